"""What can go wrong before there is a device."""


class BackendError(RuntimeError):
    """The device cannot be registered: no compiler, another backend, or a real one."""
