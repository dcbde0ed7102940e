"""The specs of the zoo's models are understood and fit their models."""

import foveal as fv
import numpy as np
import pytest
from foveal import zoo
from foveal.vision import check_task
from foveal.zoo import user


@pytest.mark.network
@pytest.mark.parametrize("name", zoo.names())
def test_a_black_frame_goes_all_the_way(name):
    user._try(zoo.find(name), zoo.get(name).read_bytes())


@pytest.mark.parametrize("name", zoo.names())
def test_task_specs(name):
    if (task := zoo.find(name).task) is not None:
        check_task(task)


@pytest.mark.network
def test_regions_follow_the_face():
    """The face's own points say where its mesh, and the mesh where its eyes, must lie."""
    picture = fv.zoo.photo("astronaut")
    (face,) = fv.vision.Detector("face").detect(picture)
    (mesh,) = fv.vision.Landmarker("face-mesh").find(picture)
    eyes = fv.vision.Landmarker("iris").find(picture)
    (body,) = fv.vision.Landmarker("pose").find(picture)
    width = face.box[2] - face.box[0]
    points = np.array(face.points)

    def far(a, b):
        return np.hypot(*(np.asarray(a)[:2] - np.asarray(b)[:2])) / width

    corners = np.asarray(mesh.points)[:, :2]
    middle = corners[[33, 133]].mean(0), corners[[263, 362]].mean(0)
    for eye in (0, 1):
        assert far(points[eye], middle[eye]) < 0.1
        iris = np.asarray(eyes[eye].points)[71:, :2]
        assert far(iris[0], middle[eye]) < 0.05
        radius = np.hypot(*(iris[1:] - iris[0]).T)
        assert radius.min() / width > 0.02 and radius.max() / width < 0.08
    for index, name in ((0, "nose"), (5, "right eye"), (2, "left eye")):
        near = {"nose": corners[1], "right eye": middle[0], "left eye": middle[1]}[name]
        assert far(np.asarray(body.points)[index], near) < 0.2, name
    assert mesh.score > 0.9 and body.score > 0.9
