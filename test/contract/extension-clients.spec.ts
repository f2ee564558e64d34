import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { AuthorHost } from '../../bin/plugin/author-host.ts';
import { writeSdk } from '../../bin/plugin/project.ts';
import { RunningExtension } from '../../bin/plugin/run-extension.ts';
import { standingVehicle } from '../../bin/plugin/standing-vehicle.ts';
import { Topics } from '../../residual/app/plugins/ipc/topics.ts';
import { type Manifest, parseManifest } from '../../shared/plugins/manifest.ts';
import { describeWith } from '../support/needs.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const JAVASCRIPT = `import { connect } from './sdk/svc-extension.mjs';
const node = await connect();
node.tool('add', ({ a, b }) => a + b);
node.tool('echo', (args) => args);
node.tool('fail', () => { throw new Error('on purpose'); });
node.tool('denied', () => node.call('mavlink.send', { frame: Buffer.alloc(3) }).catch((error) => error.code));
node.tool('unknown', () => node.call('no.such').catch((error) => error.message));
await node.subscribe(['plugin.org.example.demo.hi'], (payload) => node.publish('heard', payload));
await node.telemetry({ rateHz: 10, fields: ['mode'] }, (telemetry) => node.publish('telemetry', telemetry));
await node.publish('hi', { number: 2 ** 40, negative: -5, float: 1.5, text: 'é'.repeat(100), none: null, list: [true, false] });
await node.setConfig('key', [1, 2]);
await node.publish('config', await node.getConfig());
await node.serve((request, response) => response.end('served ' + request.url));
console.log('ready');
`;

const PYTHON = `import svc_extension
node = svc_extension.connect()

def fail(_):
    raise RuntimeError("on purpose")

def attempt(method, what):
    try:
        return node.call(method, {"frame": b"abc"})
    except svc_extension.NodeError as error:
        return what(error)

node.tool("add", lambda args: args["a"] + args["b"])
node.tool("echo", lambda args: args)
node.tool("fail", fail)
node.tool("denied", lambda _: attempt("mavlink.send", lambda error: error.code))
node.tool("unknown", lambda _: attempt("no.such", str))
node.subscribe(["plugin.org.example.demo.hi"], lambda payload, topic: node.publish("heard", payload))
node.telemetry(lambda telemetry: node.publish("telemetry", telemetry), rate_hz=10, fields=["mode"])
node.publish("hi", {"number": 2 ** 40, "negative": -5, "float": 1.5, "text": "é" * 100, "none": None, "list": [True, False]})
node.set_config("key", [1, 2])
node.publish("config", node.get_config())
print("ready", flush=True)
node.run()
`;

const PAYLOAD = {
  number: 2 ** 40,
  negative: -5,
  float: 1.5,
  text: 'é'.repeat(100),
  none: null,
  list: [true, false],
};

function manifestFor(runtime: 'node' | 'python', entrypoint: string): Manifest {
  const { manifest } = parseManifest(`id: org.example.demo
version: 1.0.0
compatibility: {svc_version: ">=0.1.0"}
agent: {runtime: ${runtime}, entrypoint: ${entrypoint}, http: ${runtime === 'node'}, permissions: [telemetry.read, event.subscribe]}
`);
  if (manifest === null) throw new Error('the manifest of the test is wrong');
  return manifest;
}

for (const [runtime, entrypoint, source] of [
  ['node', 'agent/main.mjs', JAVASCRIPT],
  ['python', 'agent/main.py', PYTHON],
] as const)
  describeWith(...(runtime === 'python' ? (['python3'] as const) : []))(
    `the client of extensions for ${runtime}`,
    () => {
      let folder: string;
      let host: AuthorHost;
      let extension: RunningExtension;
      const lines: string[] = [];
      const seen: string[] = [];
      let wake: () => void = () => undefined;

      /** Resolves when a line of the output, or what was published, fits. */
      async function until(list: readonly string[], wanted: RegExp): Promise<string> {
        for (;;) {
          const found = list.find((line) => wanted.test(line));
          if (found !== undefined) return found;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }

      before(async () => {
        folder = await tempDir();
        const manifest = manifestFor(runtime, entrypoint);
        await writeSdk(folder, runtime);
        await writeFile(join(folder, entrypoint), source);
        const dataDir = join(folder, 'data');
        await mkdir(dataDir);
        const push = (list: string[]) => (line: string) => {
          list.push(line);
          wake();
        };
        const sockets = join(folder, 'sockets');
        host = new AuthorHost({
          manifest,
          folder: sockets,
          config: new Map<string, unknown>([['first', 'a']]),
          topics: new Topics(),
          vehicle: standingVehicle({ mode: 'AUTO', armed: false }),
          mavlinkSocket: null,
          nodeCalls: null,
          onEvent: push(seen),
        });
        await host.start();
        extension = await RunningExtension.start(manifest, { folder, sockets, dataDir }, push(lines));
        await host.greeted();
        await until(lines, /^ready$/);
      });
      after(async () => {
        await extension.stop();
        await host.stop();
        await removeDir(folder);
      });

      it('answers tools: with a result, with an error, and says which it does not have', async () => {
        const invoke = async (tool: string, args: unknown = {}) =>
          host.invoke(tool, args, 5000).catch((error: unknown) => String(error));
        expect(await invoke('add', { a: 2, b: 3 })).to.equal(5);
        expect(await invoke('echo', PAYLOAD)).to.deep.equal(PAYLOAD);
        expect(await invoke('fail')).to.include('failed: on purpose');
        expect(await invoke('nothing')).to.include('tool_not_found: nothing');
      });

      it('hears from the node what it is denied, and that a method is unknown', async () => {
        expect(await host.invoke('denied', {}, 5000)).to.equal('capability_denied');
        expect(await host.invoke('unknown', {}, 5000)).to.equal('unknown method no.such');
      });

      it('publishes and hears events, with every kind of value unchanged', async () => {
        const shown = JSON.stringify(PAYLOAD)
          .slice(0, 60)
          .replaceAll(/[[\]{}.]/g, '\\$&');
        await until(seen, new RegExp(`^event plugin\\.org\\.example\\.demo\\.heard ${shown}`));
      });

      it('reads telemetry, only the fields that it asked for', async () => {
        expect(await until(seen, /\.telemetry/)).to.equal(
          'event plugin.org.example.demo.telemetry {"mode":"AUTO"}',
        );
      });

      it('keeps its configuration with the node', async () => {
        expect(await until(seen, /\.config/)).to.include('{"first":"a","key":[1,2]}');
      });

      if (runtime === 'node')
        it('serves HTTP on the socket that it was given', async () => {
          const asked = request({ socketPath: join(folder, 'sockets/http.sock'), path: '/page?x=1' }).end();
          const [answer] = (await once(asked, 'response')) as [AsyncIterable<Buffer>];
          let text = '';
          for await (const chunk of answer) text += chunk.toString();
          expect(text).to.equal('served /page?x=1');
        });

      it('ends with code 0 at SIGTERM', async () => {
        expect(await extension.stop()).to.equal(true);
        expect(await extension.ended()).to.equal('ended with code 0');
      });
    },
  );
