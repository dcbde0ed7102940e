"""What all tests need of the process that runs them."""

import signal

# A shell's background jobs ignore Ctrl-C, and so do the programs that they start: those that are
# tested for it would not see it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
