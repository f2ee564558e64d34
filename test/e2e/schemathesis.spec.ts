import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { operationId } from '../../shared/routes/openapi.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

interface Operation {
  readonly 'x-svc':
    | { readonly id: string; readonly built: boolean; readonly feature: string; readonly websocket?: boolean }
    | readonly unknown[];
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
}

/** What the program cannot be asked, with the reason of each. */
const NOT_ASKED: Readonly<Record<string, string>> = {
  'logs.stream.get': 'never ends',
  'support-bundle.get': 'each takes seconds',
  'video.live.mp4.get': 'never ends',
  'whep.post': 'it cannot write SDP',
  'whep.session.patch': 'it cannot write SDP',
  'pairing.unpair.post': 'would take the key away from the run',
  'system.restart-supervisor.post': 'would end the node under the run',
  'services.name.restart.post': 'would end the node under the run',
  'system.reboot.post': 'would end the machine under the run',
  'system.shutdown.post': 'would end the machine under the run',
  'system.update.post': 'its node is not an installed one (501)',
  'vision.designate.post': 'no detector runs here (503)',
  'plugins.id.x.path.get': 'no extension is there that could answer',
  'plugins.id.x.path.post': 'no extension is there that could answer',
  'plugins.id.x.path.put': 'no extension is there that could answer',
  'plugins.id.x.path.patch': 'no extension is there that could answer',
  'plugins.id.x.path.delete': 'no extension is there that could answer',
};

/** The same for whole families, by the beginning of their ids. */
const NOT_ASKED_FAMILIES: Readonly<Record<string, string>> = {
  'network.': 'no NetworkManager runs here (503)',
  'ground-station.network.': 'no NetworkManager runs here (503)',
  'ground-station.mesh.': 'this kernel has no batman-adv (501)',
  'ground-station.role.put': 'this kernel has no batman-adv (501)',
  'ground-station.relay-proxy.': 'no drone is bound; the paths are those of any other route',
};

/** Each profile is asked for what only it has, the drone for all that both have. */
const RUNS = [
  { profile: 'drone', asks: (feature: string) => feature !== 'ground-station', least: 50 },
  { profile: 'ground-station', asks: (feature: string) => feature === 'ground-station', least: 8 },
] as const;

// Left out: what is about several requests, which this run does not link. Which commands and modes there are depends on the
// vehicle, so an unknown one is 400 (docs/contract/flight.md); what the items of a mission mean, a schema cannot say, nor what an
// archive holds and which addresses are allowed, nor which of two forms an end of the radio takes, or the id of this node, nor what is
// a map, nor which steps of the set-up a person can mark, nor which addresses of a hub may be asked in the open, nor what a code looks
// like, nor what is a model or a file of descriptions, nor which values a config key or a parameter of the vehicle takes.
const CONFIG = `
[checks]
ignored_auth.enabled = false
use_after_free.enabled = false
ensure_resource_availability.enabled = false
object_level_authorization.enabled = false

${[
  'command.post',
  'mission.put',
  'fence.put',
  'rally.put',
  'plugins.parse.post',
  'plugins.install.post',
  'wfb.pair.post',
  'wfb.channel.post',
  'ground-station.factory-reset.post',
  'maps.name.put',
  'setup.step.id.post',
  'fleet.enroll.post',
  'vision.models.post',
  'config.put',
  'params.put',
  'params.descriptions.put',
  'params.name.post',
  'params.name.put',
]
  .map(
    (id) => `[[operations]]
include-operation-id = "${operationId({ id }, id.split('.').at(-1) ?? '')}"
checks.positive_data_acceptance.enabled = false
`,
  )
  .join('\n')}
# Its example is an address that is not there: 502.
[[operations]]
include-operation-id = "${operationId({ id: 'plugins.install-from-url.post' }, 'post')}"
checks.positive_data_acceptance.enabled = false
checks.not_a_server_error.enabled = false
`;

function isAsked(id: string): boolean {
  return (
    NOT_ASKED[id] === undefined && !Object.keys(NOT_ASKED_FAMILIES).some((family) => id.startsWith(family))
  );
}

async function installed(): Promise<boolean> {
  const child = execFile('schemathesis', ['--version']);
  return once(child, 'exit').then(
    ([code]) => code === 0,
    () => false,
  );
}

describe('schemathesis against /openapi.json', function () {
  this.timeout(480_000);

  for (const { profile, asks, least } of RUNS)
    it(`${profile}: finds no 5xx, no undocumented status, and no input that schema and code judge differently`, async function () {
      if (!(await installed())) return this.skip(); // pip install schemathesis
      const dir = await tempDir();
      const node = await TestNode.start({
        pairing: { key: KEY },
        config: `agent:\n  profile: ${profile}\nvideo:\n  source: test\n  hero: {width: 320, height: 180, fps: 5, bitrate_kbps: 200}\nmcp:\n  token_accept_enabled: true\n`,
      });
      try {
        const { body } = await node.json('/openapi.json', { headers: { 'x-svc-key': KEY } });
        const document = body as unknown as Document;
        let asked = 0;
        for (const item of Object.values(document.paths)) {
          for (const [verb, operation] of Object.entries(item)) {
            const x = operation['x-svc'];
            const plain = 'built' in x && x.built && x.websocket !== true && asks(x.feature);
            if (plain && isAsked(x.id)) asked++;
            else delete item[verb];
          }
        }
        expect(asked).to.be.at.least(least);
        await writeFile(join(dir, 'openapi.json'), JSON.stringify(document));
        await writeFile(join(dir, 'schemathesis.toml'), CONFIG);
        const args = ['--config-file', 'schemathesis.toml', 'run', 'openapi.json', '--url', node.url];
        args.push('-H', `X-SVC-Key: ${KEY}`, '--phases', 'examples,fuzzing', '-n', '12', '--seed', '7');
        // How fast it makes its inputs depends on the machine.
        args.push('--suppress-health-check', 'too_slow');
        args.push('-w', '1', '--no-shrink', '--continue-on-failure', '--request-timeout', '20');
        const run = execFile('schemathesis', args, { cwd: dir, maxBuffer: 16e6 });
        let said = '';
        run.stdout?.on('data', (chunk: string) => (said += chunk));
        run.stderr?.on('data', (chunk: string) => (said += chunk));
        const [code] = (await once(run, 'close')) as [number];
        expect(code, said.slice(-12_000)).to.equal(0);
      } finally {
        await node.stop();
        await removeDir(dir);
      }
    });
});
