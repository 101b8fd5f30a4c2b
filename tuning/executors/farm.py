# SPDX-License-Identifier: Apache-2.0
"""
Machines of a Dask scheduler, `tcp://host:8786`, as an executor.

    dask scheduler                                            on one machine
    CUDA_VISIBLE_DEVICES=0 dask worker tcp://host:8786        for each GPU, on all machines

Every worker measures on its own GPU, one schedule at a time, in a separate process that may hang.
Times of one tuning run are compared, so that only workers with the same GPU take part.

A farm trusts its network: anyone with access to a scheduler or a worker can run code there, with
the rights of its user. `tls://host:8786` makes Dask use the certificates named in its
configuration.

Reference: Dask.distributed, "Futures", `Client.get_executor`; "TLS/SSL", `distributed.comm.tls`.
"""

from asyncio import new_event_loop, run_coroutine_threadsafe
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from threading import Thread
from typing import Any, ParamSpec, TypeVar, cast

from tilewright.codegen.gpu import Gpu, present_gpu
from tilewright.errors import TilewrightError, UsageError
from tilewright.tuning.executors.isolated import IsolatedExecutor

P = ParamSpec("P")
T = TypeVar("T")

_CONNECT_S = 10.0

_CERTIFICATES = "docs/tune-command.md says where Dask finds certificates"


class Farm(AbstractContextManager["Farm"]):
    """
    Connection to the workers of a scheduler. Raises `TilewrightError` if it cannot be reached.
    """

    def __init__(self, url: str):
        try:
            from distributed import Client, Security
            from distributed.comm import core
        except ModuleNotFoundError as err:
            remedy = "pip install 'tilewright[farm]'"
            raise TilewrightError(f"--scheduler needs {err.name}", remedy=remedy) from None
        try:
            keys, comm = cast(Any, Security()), cast(Any, core)
            _check_certificates(url, keys)
            with ExitStack() as stack:
                loop = stack.enter_context(event_loop())
                # a client that cannot connect would report the error again at exit
                first = comm.connect(url, _CONNECT_S, **keys.get_connection_args("client"))
                run_coroutine_threadsafe(first, loop.asyncio_loop).result().abort()
                self._client: Any = Client(url, loop=loop, timeout=_CONNECT_S, set_as_default=False)
                stack.callback(self._client.close)
                self._opened = stack.pop_all()
        except (OSError, ValueError, TypeError, RuntimeError) as err:
            raise UsageError(
                f"there is no scheduler at '{url}': {err}",
                remedy=_CERTIFICATES if url.startswith("tls://") else "",
            ) from None

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def gpus(self) -> dict[str, Gpu]:
        """Return the GPU of each worker that has one, by the workers' addresses."""
        found: Mapping[str, Gpu | None] = self._client.run(gpu_here)
        return {worker: gpu for worker, gpu in sorted(found.items()) if gpu is not None}

    def executor(self, workers: list[str], limit_s: float) -> Executor:
        """
        Return an executor on some workers; each call runs in a process as in `IsolatedExecutor`.
        """
        inner = self._client.get_executor(pure=False, retries=0, workers=workers)
        return FarmExecutor(inner, limit_s)


@contextmanager
def event_loop() -> Generator[Any]:
    """
    Run an event loop in a thread, for a client or a cluster.

    Dask's own loop fails an assertion if the thread takes 10 s to start, on a busy machine.
    """
    from tornado.ioloop import IOLoop

    async def current() -> IOLoop:
        return IOLoop.current()

    loop = new_event_loop()
    thread = Thread(target=loop.run_forever, name="farm", daemon=True)
    thread.start()
    try:
        yield run_coroutine_threadsafe(current(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _check_certificates(url: str, security: Any) -> None:
    """Raise `ValueError` or `OSError` if Dask's configuration lacks settings that a URL needs."""
    is_tls = url.startswith("tls://")
    if is_tls and security.get_connection_args("client")["ssl_context"] is None:
        raise ValueError("Dask's configuration names no certificates")
    if security.require_encryption and not is_tls:
        raise ValueError("Dask's configuration requires encryption, but this is not tls://")


class FarmExecutor(Executor):
    """Executor whose calls run on the workers of a client, isolated from the workers' processes."""

    def __init__(self, inner: Executor, limit_s: float):
        self._inner = inner
        self._limit_s = limit_s

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return self._inner.submit(isolated_here, self._limit_s, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._inner.shutdown(wait)  # cancels if it does not wait


def gpu_here() -> Gpu | None:
    """Return the GPU of this process, if it has one."""
    return present_gpu()


def isolated_here(
    limit_s: float, function: Callable[..., T], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> T:
    """Call a function in the worker's separate process."""
    return _own_executor(limit_s).submit(function, *args, **kwargs).result()


@cache
def _own_executor(limit_s: float) -> IsolatedExecutor:
    return IsolatedExecutor(1, limit_s)
