"""What an extension in Python needs to talk to its node. One file, no dependency, Python 3.9 or later.

    import svc_extension
    node = svc_extension.connect()
    node.telemetry(print, rate_hz=2)
    node.run()

Handlers run one after the other in the thread of `run`, and may call the node.
"""

import os
import queue
import signal
import socket
import struct
import sys
import threading
import traceback

SDK = "svc-extension-py/1"
MAX_FRAME_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 32
MAX_EVENTS = 256
CALL_S = 10.0


class NodeError(Exception):
    """The node's own words for why it did not do what was asked: `code`, or `code: detail`."""

    def __init__(self, text):
        super().__init__(text)
        self.code = text.split(":", 1)[0]


def connect(path=None, plugin_id=None, timeout=CALL_S):
    """Connects to the node that started this process, and says hello."""
    path = path or os.environ.get("SVC_PLUGIN_SOCKET")
    if not path:
        raise RuntimeError("SVC_PLUGIN_SOCKET is not set: run this with `svc plugin dev`, or on a node")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    connection.connect(path)
    connection.settimeout(None)
    return Extension(connection, plugin_id or os.environ.get("SVC_PLUGIN_ID"), timeout)


class Extension:
    """id, version, profile, data_dir; grants (a set) and config (a dict) are kept as they are now."""

    def __init__(self, connection, plugin_id, timeout):
        self._socket = connection
        self._timeout = timeout
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._next_id = 1
        self._pending = {}
        self._handlers = {}
        self._answers = {}
        self._topics = set()
        self._work = queue.Queue(MAX_EVENTS)
        self._stopping = threading.Event()
        self._failed = False
        threading.Thread(target=self._read, daemon=True).start()
        hello = self.call("hello", {"plugin_id": plugin_id, "sdk": SDK})
        self.id = hello["plugin_id"]
        self.version = hello.get("version")
        self.profile = hello.get("profile")
        self.data_dir = hello.get("data_dir") or os.environ.get("SVC_PLUGIN_DATA")
        self.grants = set(hello.get("grants") or [])
        self.config = hello.get("config") or {}

    def call(self, method, args=None, timeout=None):
        """Any method by its name, see docs/extensions.md. Raises NodeError."""
        answer = queue.Queue(1)
        with self._lock:
            number = self._next_id
            self._next_id += 1
            self._pending[number] = answer
        try:
            self._send({"v": 1, "t": "request", "id": number, "m": method, "a": args or {}})
            result = answer.get(timeout=timeout or self._timeout)
        except queue.Empty:
            raise NodeError("timeout: %s was not answered" % method) from None
        finally:
            with self._lock:
                self._pending.pop(number, None)
        if isinstance(result, NodeError):
            raise result
        return result

    def on(self, name, handler):
        """Events by the name of their frame: event, telemetry, mavlink, mavlink_ended, mavlink_component,
        mavlink_component_ended, config, grants."""
        self._handlers.setdefault(name, []).append(handler)

    def tool(self, name, handler):
        """Answers a tool of the manifest: handler(arguments) returns the result."""
        self._answers[("tool.invoke", name)] = lambda a: handler(a.get("arguments") or {})

    def publish(self, name, payload):
        """Publishes an event; a name without a dot is one of its own."""
        return self.call("event.publish", {"topic": self._topic(name), "payload": payload})

    def publish_state(self, name, payload):
        """What GET /api/plugins/{id}/state shows; publish it again at least every 10 s."""
        return self.call("state.publish", {"topic": self._topic(name), "payload": payload})

    def subscribe(self, topics, handler):
        """handler(payload, topic); needs event.subscribe."""
        wanted = set(topics)
        self._topics |= wanted  # the node replaces what was subscribed before

        def on_event(event):
            if event["topic"] in wanted:
                handler(event["payload"], event["topic"])

        self.on("event", on_event)
        return self.call("event.subscribe", {"topics": sorted(self._topics)})

    def telemetry(self, handler, rate_hz=1, fields=None):
        """handler(telemetry), as GET /api/telemetry answers; needs telemetry.read."""
        self.on("telemetry", handler)
        args = {"rate_hz": rate_hz}
        if fields is not None:
            args["fields"] = fields
        return self.call("telemetry.subscribe", args)

    def mavlink(self, handler, messages=None):
        """handler(frame), bytes of whole MAVLink frames by message id; needs mavlink.read."""
        self.on("mavlink", lambda event: handler(event["frame"]))
        return self.call("mavlink.subscribe", {} if messages is None else {"messages": messages})

    def send_mavlink(self, frame):
        """Needs mavlink.write."""
        return self.call("mavlink.send", {"frame": frame})

    def extend_telemetry(self, values):
        """Shows values below extensions.<id> in the telemetry for 10 s; needs telemetry.extend."""
        return self.call("telemetry.extend", {"values": values})

    def send_command(self, cmd, args=()):
        """As POST /api/command takes it; needs command.send."""
        return self.call("command.send", {"cmd": cmd, "args": list(args)}, timeout=35)

    def component(self, number, handler=None):
        """Is this component of the vehicle from now on; the node sends its heartbeat. handler(frame) hears what is addressed to it.
        Returns a function that sends one of its frames; needs mavlink.component.<kind>."""

        def on_frame(event):
            if handler is not None and event["component_id"] == number:
                handler(event["frame"])

        self.on("mavlink_component", on_frame)
        self.call("mavlink.register_component", {"component_id": number})
        return lambda frame: self.call("mavlink.component_send", {"component_id": number, "frame": frame})

    def write_mission(self, plan, part="mission"):
        """plan: {items} or a QGroundControl plan; needs mission.write."""
        return self.call("mission.write", {"part": part, "plan": plan}, timeout=510)

    def read_frame(self):
        """The newest picture, {jpeg, captured_at}; needs vision.frame.read."""
        return self.call("vision.read_frame")

    def get_config(self, key=None):
        """One value, None where there is none; without a key all of them."""
        if key is None:
            return self.call("config.get")["values"]
        return self.call("config.get", {"key": key})["value"]

    def set_config(self, key, value):
        return self.call("config.set", {"key": key, "value": value})

    def read_mission(self, part="mission"):
        """part: mission, fence or rally; needs mission.read."""
        return self.call("mission.read", {"part": part})

    def publish_detections(self, batch):
        """batch: {ts_ms, frame_width, frame_height, detections}; needs vision.detection.publish."""
        return self.call("vision.publish_detection", batch)

    def detections(self, handler):
        """handler(batch) of others, as WS /api/vision/detections/ws tells it; needs vision.detection.subscribe."""
        self.on("vision.detection", handler)
        return self.call("vision.subscribe_detections")

    def _topic(self, name):
        return name if "." in name else "plugin.%s.%s" % (self.id, name)

    def stop(self, *_):
        """Ends `run`."""
        self._stopping.set()
        try:
            self._work.put_nowait(None)
        except queue.Full:
            pass  # then run() is awake

    def run(self):
        """Handles events and requests until SIGTERM (returns) or until the node is gone (exit code 1)."""
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        while not self._stopping.is_set():
            try:
                message = self._work.get(timeout=0.5)
            except queue.Empty:
                continue
            if message is None:
                continue
            try:
                self._handle(message)
            except Exception:  # an extension goes on after a handler that failed
                traceback.print_exc()
        self._socket.close()
        if self._failed:
            sys.exit(1)

    def _handle(self, message):
        args = message.get("a")
        if message["t"] == "event":
            if message.get("m") == "grants":
                self.grants = set(args["grants"])
            elif message.get("m") == "config":
                self.config = args["values"]
            for handler in self._handlers.get(message.get("m"), []):
                handler(args)
            return
        args = args if isinstance(args, dict) else {}
        name = args.get("tool") or args.get("uri") or args.get("name")
        answer = self._answers.get((message.get("m"), name))
        reply = {"v": 1, "t": "response", "id": message.get("id")}
        if answer is None:
            reply["err"] = "tool_not_found: %s" % name
        else:
            try:
                reply["a"] = answer(args)
            except Exception as error:
                traceback.print_exc()
                reply["err"] = "failed: %s" % error
        self._send(reply)

    def _send(self, message):
        body = pack(message)
        if len(body) > MAX_FRAME_BYTES:
            raise NodeError("too_large: %d bytes" % len(body))
        with self._sending:
            self._socket.sendall(struct.pack(">I", len(body)) + body)

    def _read(self):
        try:
            while True:
                (size,) = struct.unpack(">I", self._exactly(4))
                if size > MAX_FRAME_BYTES:
                    raise NodeError("too_large: a frame of %d bytes" % size)
                self._dispatch(unpack(self._exactly(size)))
        except (OSError, EOFError, ValueError, NodeError) as error:
            if not self._stopping.is_set():
                print("the connection to the node: %s" % error, file=sys.stderr)
                self._failed = True
        with self._lock:
            waiting = list(self._pending.values())
        for answer in waiting:
            answer.put(NodeError("closed: the connection to the node"))
        self.stop()

    def _dispatch(self, message):
        if message.get("t") != "response":
            try:
                self._work.put_nowait(message)
            except queue.Full:
                pass  # handlers are too slow: the newest is dropped, as the node does too
            return
        with self._lock:
            answer = self._pending.pop(message.get("id"), None)
        if answer is not None:
            err = message.get("err")
            answer.put(NodeError(err) if isinstance(err, str) else message.get("a"))

    def _exactly(self, size):
        parts = []
        while size > 0:
            part = self._socket.recv(min(size, 65536))
            if not part:
                raise EOFError("closed")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def pack(value):
    """MessagePack, of what JSON knows and bytes."""
    out = bytearray()
    _pack(value, out)
    return bytes(out)


def _pack(value, out):
    if value is None:
        out.append(0xC0)
    elif value is True or value is False:
        out.append(0xC3 if value else 0xC2)
    elif isinstance(value, int):
        if 0 <= value < 0x80:
            out.append(value)
        elif -0x20 <= value < 0:
            out.append(value & 0xFF)
        else:
            out += struct.pack(">BQ", 0xCF, value) if value >= 0 else struct.pack(">Bq", 0xD3, value)
    elif isinstance(value, float):
        out += struct.pack(">Bd", 0xCB, value)
    elif isinstance(value, str):
        data = value.encode("utf-8")
        out += struct.pack(">BI", 0xDB, len(data)) if len(data) > 31 else bytes([0xA0 | len(data)])
        out += data
    elif isinstance(value, (bytes, bytearray, memoryview)):
        out += struct.pack(">BI", 0xC6, len(value))
        out += value
    elif isinstance(value, (list, tuple)):
        out += struct.pack(">BI", 0xDD, len(value))
        for item in value:
            _pack(item, out)
    elif isinstance(value, dict):
        out += struct.pack(">BI", 0xDF, len(value))
        for key, item in value.items():
            _pack(str(key), out)
            _pack(item, out)
    else:
        raise TypeError("%s cannot be sent" % type(value).__name__)


_FIXED = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_SIZES = {1: ">B", 2: ">H", 4: ">I"}
_TEXTS = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_BYTES = {0xC4: 1, 0xC5: 2, 0xC6: 4}


def unpack(data):
    """One MessagePack value, and nothing after it. Raises ValueError."""
    try:
        value, at = _unpack(memoryview(data), 0, 0)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise ValueError("a frame that cannot be read: %s" % error) from None
    if at != len(data):
        raise ValueError("a frame has bytes after its message")
    return value


def _unpack(data, at, depth):
    if depth > MAX_DEPTH:
        raise ValueError("a frame is nested too deeply")
    kind = data[at]
    at += 1
    if kind < 0x80:
        return kind, at
    if kind >= 0xE0:
        return kind - 0x100, at
    if kind < 0x90:
        return _map(data, at, kind & 0x0F, depth)
    if kind < 0xA0:
        return _list(data, at, kind & 0x0F, depth)
    if kind < 0xC0:
        return _text(data, at, kind & 0x1F)
    if kind == 0xC0:
        return None, at
    if kind in (0xC2, 0xC3):
        return kind == 0xC3, at
    if kind in _FIXED:
        return struct.unpack_from(_FIXED[kind], data, at)[0], at + struct.calcsize(_FIXED[kind])
    if kind in _TEXTS:
        return _text(data, *_size(data, at, _TEXTS[kind]))
    if kind in _BYTES:
        at, size = _size(data, at, _BYTES[kind])
        return bytes(_slice(data, at, size)), at + size
    if kind in (0xDC, 0xDD):
        return _list(data, *_size(data, at, 2 if kind == 0xDC else 4), depth)
    if kind in (0xDE, 0xDF):
        return _map(data, *_size(data, at, 2 if kind == 0xDE else 4), depth)
    raise ValueError("a frame has a value of an unknown type")


def _size(data, at, width):
    return at + width, struct.unpack_from(_SIZES[width], data, at)[0]


def _slice(data, at, size):
    if size > len(data) - at:
        raise ValueError("a frame is cut short")
    return data[at : at + size]


def _text(data, at, size):
    return bytes(_slice(data, at, size)).decode("utf-8"), at + size


def _list(data, at, size, depth):
    items = []
    for _ in range(size):
        item, at = _unpack(data, at, depth + 1)
        items.append(item)
    return items, at


def _map(data, at, size, depth):
    items = {}
    for _ in range(size):
        key, at = _unpack(data, at, depth + 1)
        items[key], at = _unpack(data, at, depth + 1)
    return items, at
