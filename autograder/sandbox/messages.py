"""Messages with descriptors between the grader, the fork server and its workers."""

import errno
import json
import socket
import time

PAUSE, TRIES = 0.05, 200


def send_descriptors(to: socket.socket, message: dict, *descriptors: int):
    """Send them with a message, all or none.

    OSError where it cannot be, which is not at once: how many of a user's may be on their way is counted (ETOOMANYREFS), and that
    user's submissions send some, too.
    """
    for left in reversed(range(TRIES)):
        try:
            socket.send_fds(to, [json.dumps(message).encode()], descriptors)
            return
        except OSError as error:
            if error.errno != errno.ETOOMANYREFS or not left:
                raise
        time.sleep(PAUSE)
