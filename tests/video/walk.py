"""The view that walks over a photo in the videos of these tests."""

WIDTH, HEIGHT, FRAMES, FPS = 320, 256, 20, 25.0


def crop(photo, index):
    return photo[20 : 20 + HEIGHT, 60 + index : 60 + index + WIDTH]
