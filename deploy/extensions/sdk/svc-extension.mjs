// What an extension in JavaScript or TypeScript needs to talk to its node; types in svc-extension.d.mts.
// One file, and msgpack.cjs beside it: copy both, or let `svc plugin sdk` do it.
import { chmodSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect as connectSocket, createServer as createSocketServer } from 'node:net';
import { dirname, join } from 'node:path';
import msgpack from './msgpack.cjs';

export const SDK = 'svc-extension-js/1';
const MAX_FRAME_BYTES = 4 * 1024 * 1024;
const HEADER_BYTES = 4;
const MAX_PENDING = 256;
const CALL_MS = 10_000;
const COMMAND_MS = 35_000;
const MISSION_MS = 510_000;
const STOP_MS = 5_000;
const PREPARING_MS = 1_000;
const PREPARING_STEP_MS = 50;

/** The node's own words for why it did not do what was asked: `code`, or `code: detail`. */
export class NodeError extends Error {
  constructor(text) {
    super(text);
    this.name = 'NodeError';
    this.code = text.split(':', 1)[0];
  }
}

/**
 * Connects to the node that started this process, and says hello.
 * @param {{ socket?: string, id?: string, timeoutMs?: number }} [options]
 */
export async function connect(options = {}) {
  const path = options.socket ?? process.env.SVC_PLUGIN_SOCKET;
  if (!path) throw new Error('SVC_PLUGIN_SOCKET is not set: run this with `svc plugin dev`, or on a node');
  const socket = connectSocket(path);
  const client = new Client(socket, options.timeoutMs ?? CALL_MS);
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const hello = await client.call('hello', { plugin_id: options.id ?? process.env.SVC_PLUGIN_ID, sdk: SDK });
  return new Extension(client, hello);
}

class Extension {
  #client;
  #http = null;
  #stopping = null;
  #onStop = [];
  #topics = new Set();
  #closed;

  constructor(client, hello) {
    this.#client = client;
    this.id = hello.plugin_id;
    this.version = hello.version;
    this.profile = hello.profile;
    this.dataDir = hello.data_dir ?? process.env.SVC_PLUGIN_DATA;
    this.grants = new Set(hello.grants ?? []);
    this.config = hello.config ?? {};
    client.on('grants', ({ grants }) => {
      this.grants = new Set(grants);
    });
    client.on('config', ({ values }) => {
      this.config = values;
    });
    const end = () => void this.close().then(() => process.exit(0));
    process.once('SIGTERM', end);
    process.once('SIGINT', end);
    this.#closed = new Promise((resolve) => client.onceClosed(resolve));
    void this.#closed.then(() => {
      // Without its node an extension is of no use; whoever started it starts it again.
      if (this.#stopping === null) {
        console.error('the node closed the connection');
        process.exit(1);
      }
    });
  }

  /** Any method by its name. @throws NodeError */
  call(method, args = {}, timeoutMs) {
    return this.#client.call(method, args, timeoutMs);
  }

  /** Events by the name of their frame: `event`, `telemetry`, `mavlink`, `mavlink_ended`, `mavlink_component`, `mavlink_component_ended`, `vision.detection`, `config`, `grants`. */
  on(name, listener) {
    this.#client.on(name, listener);
    return this;
  }

  ping() {
    return this.call('ping');
  }

  /** The full topic of a name of its own. */
  topic(name) {
    return `plugin.${this.id}.${name}`;
  }

  /** Publishes an event; a name without a dot is one of its own. */
  publish(name, payload) {
    return this.call('event.publish', { topic: this.#full(name), payload });
  }

  /** What `GET /api/plugins/{id}/state` shows. */
  publishState(name, payload) {
    return this.call('state.publish', { topic: this.#full(name), payload });
  }

  #full(name) {
    return name.includes('.') ? name : this.topic(name);
  }

  subscribe(topics, listener) {
    const wanted = new Set(topics);
    for (const topic of wanted) this.#topics.add(topic);
    this.on('event', (event) => {
      if (wanted.has(event.topic)) return listener(event.payload, event.topic);
    });
    // It replaces what was subscribed before.
    return this.call('event.subscribe', { topics: [...this.#topics] });
  }

  async telemetry({ rateHz = 1, fields } = {}, listener) {
    this.on('telemetry', listener);
    return this.call('telemetry.subscribe', { rate_hz: rateHz, ...(fields && { fields }) });
  }

  async mavlink({ messages } = {}, listener) {
    this.on('mavlink', ({ frame }) => listener(frame));
    return this.call('mavlink.subscribe', messages ? { messages } : {});
  }

  sendMavlink(frame) {
    return this.call('mavlink.send', { frame });
  }

  /** Shows values below `extensions.<id>` in the telemetry, for 10 s; needs `telemetry.extend`. */
  extendTelemetry(values) {
    return this.call('telemetry.extend', { values });
  }

  /** A command as POST /api/command takes it; needs `command.send`. */
  sendCommand(cmd, args = []) {
    return this.call('command.send', { cmd, args }, COMMAND_MS);
  }

  /** Is this component of the vehicle from now on; the node sends its heartbeat. @returns how to send its frames */
  async component(id, onFrame = () => undefined) {
    this.on('mavlink_component', (event) => {
      if (event.component_id === id) return onFrame(event.frame);
    });
    await this.call('mavlink.register_component', { component_id: id });
    return (frame) => this.call('mavlink.component_send', { component_id: id, frame });
  }

  /** Offers a camera: `handler(stream)` writes MPEG-TS (`mpegts`) or JPEGs (`mjpeg`) while somebody looks. */
  async camera(format, handler) {
    const path = join(dirname(process.env.SVC_PLUGIN_SOCKET), 'camera.sock');
    rmSync(path, { force: true }); // of the process before this one
    const server = createSocketServer((stream) => {
      stream.on('error', () => stream.destroy());
      return handler(stream);
    });
    await new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    chmodSync(path, 0o666); // who reaches it is decided by the folder that it is in
    server.unref();
    return this.call('camera.register', { format });
  }

  /** The newest picture, `{ jpeg, captured_at }`; needs `vision.frame.read`. */
  readFrame() {
    return this.call('vision.read_frame');
  }

  async getConfig(key) {
    const { value, values } = await this.call('config.get', key === undefined ? {} : { key });
    return key === undefined ? values : value;
  }

  setConfig(key, value) {
    return this.call('config.set', { key, value });
  }

  readMission(part = 'mission') {
    return this.call('mission.read', { part });
  }

  /** `{ items }` or a QGroundControl plan; checked and read back. Needs `mission.write`. */
  writeMission(plan, part = 'mission') {
    return this.call('mission.write', { part, plan }, MISSION_MS);
  }

  startRecording() {
    return this.call('recording.start');
  }

  stopRecording() {
    return this.call('recording.stop');
  }

  publishDetections(batch) {
    return this.call('vision.publish_detection', batch);
  }

  detections(listener) {
    this.on('vision.detection', listener);
    return this.call('vision.subscribe_detections');
  }

  /** Answers a tool of the manifest. What the handler returns, or the promise of it, is the result. */
  tool(name, handler) {
    this.#client.answer('tool.invoke', 'tool', name, ({ arguments: args }) => handler(args ?? {}));
    return this;
  }

  /** Serves HTTP below /api/plugins/{id}/x/; needs `http: true` in the manifest. */
  async serve(handler) {
    const path = process.env.SVC_PLUGIN_HTTP_SOCKET;
    if (!path) throw new Error('SVC_PLUGIN_HTTP_SOCKET is not set: write `http: true` into the manifest');
    rmSync(path, { force: true }); // of the process before this one
    const server = createServer(handler);
    await new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    chmodSync(path, 0o666); // who reaches it is decided by the folder that it is in
    this.#http = server;
    return server;
  }

  /** Something to end on SIGTERM, within 5 s altogether. */
  onStop(work) {
    this.#onStop.push(work);
    return this;
  }

  /** Ends everything; the process then ends by itself. */
  close() {
    this.#stopping ??= this.#close();
    return this.#stopping;
  }

  async #close() {
    const timer = setTimeout(() => process.exit(1), STOP_MS);
    timer.unref();
    for (const work of this.#onStop) await Promise.resolve(work()).catch((error) => console.error(error));
    this.#http?.close();
    this.#http?.closeAllConnections();
    this.#client.close();
  }
}

/** Requests, answers and events on one socket. */
class Client {
  #socket;
  #timeoutMs;
  #received = [];
  #length = 0;
  #nextId = 1;
  #pending = new Map();
  #listeners = new Map();
  #answers = new Map();
  #preparingUntil = Date.now() + PREPARING_MS;

  constructor(socket, timeoutMs) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    socket.on('data', (chunk) => this.#data(chunk));
    socket.on('error', (error) => console.error(`the connection to the node: ${error.message}`));
    socket.on('close', () => this.#fail(new NodeError('closed: the connection to the node')));
  }

  onceClosed(listener) {
    this.#socket.once('close', listener);
  }

  close() {
    this.#socket.end();
    this.#socket.unref();
  }

  on(name, listener) {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  answer(method, field, value, handler) {
    this.#answers.set(`${method} ${value}`, { field, handler });
  }

  call(method, args = {}, timeoutMs = this.#timeoutMs) {
    if (this.#pending.size >= MAX_PENDING)
      return Promise.reject(new NodeError(`busy: ${MAX_PENDING} calls are not answered yet`));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new NodeError(`timeout: ${method} was not answered in ${timeoutMs} ms`));
      }, timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#send({ v: 1, t: 'request', id, m: method, a: args }, reject);
    });
  }

  #send(message, onError = (error) => console.error(error)) {
    try {
      const body = msgpack.encode(message, { ignoreUndefined: true });
      if (body.length > MAX_FRAME_BYTES) throw new NodeError(`too_large: ${body.length} bytes`);
      const header = Buffer.alloc(HEADER_BYTES);
      header.writeUInt32BE(body.length);
      this.#socket.write(Buffer.concat([header, body]));
    } catch (error) {
      onError(error);
    }
  }

  #data(chunk) {
    this.#received.push(chunk);
    this.#length += chunk.length;
    for (;;) {
      if (this.#length < HEADER_BYTES) return;
      if (this.#received[0].length < HEADER_BYTES) this.#received = [Buffer.concat(this.#received)];
      const size = this.#received[0].readUInt32BE(0);
      if (size > MAX_FRAME_BYTES) return void this.#socket.destroy(new Error(`a frame of ${size} bytes`));
      if (this.#length < HEADER_BYTES + size) return;
      const all = this.#received.length === 1 ? this.#received[0] : Buffer.concat(this.#received);
      this.#received = [all.subarray(HEADER_BYTES + size)];
      this.#length = all.length - HEADER_BYTES - size;
      this.#message(msgpack.decode(all.subarray(HEADER_BYTES, HEADER_BYTES + size)));
    }
  }

  #message(message) {
    if (message.t === 'response') this.#response(message);
    else if (message.t === 'request') void this.#request(message);
    else
      for (const listener of this.#listeners.get(message.m) ?? [])
        void Promise.try(listener, message.a).catch((error) => console.error(error));
  }

  #response({ id, a, err }) {
    const waiting = this.#pending.get(id);
    if (waiting === undefined) return;
    this.#pending.delete(id);
    clearTimeout(waiting.timer);
    if (typeof err === 'string') waiting.reject(new NodeError(err));
    else waiting.resolve(a);
  }

  async #request({ id, m, a }) {
    const name = a?.tool ?? a?.uri ?? a?.name;
    let entry = this.#answers.get(`${m} ${name}`);
    // A node may ask as soon as it was greeted, and the extension may still be preparing.
    while (entry === undefined && Date.now() < this.#preparingUntil) {
      await new Promise((resolve) => setTimeout(resolve, PREPARING_STEP_MS));
      entry = this.#answers.get(`${m} ${name}`);
    }
    if (entry === undefined || a?.[entry.field] !== name) {
      const err = m === 'tool.invoke' ? `tool_not_found: ${name}` : `not_found: ${m} ${name}`;
      this.#send({ v: 1, t: 'response', id, err });
      return;
    }
    try {
      this.#send({ v: 1, t: 'response', id, a: (await entry.handler(a)) ?? null });
    } catch (error) {
      console.error(error);
      this.#send({
        v: 1,
        t: 'response',
        id,
        err: `failed: ${error instanceof Error ? error.message : String(error)}`,
      });
    }
  }

  #fail(error) {
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#pending.clear();
  }
}
