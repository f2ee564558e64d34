import { expect } from 'chai';
import { EXIT } from '../../bin/cli/exit-codes.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { bindTo, boundPair, DRONE, GROUND } from '../support/radios.ts';
import { svc, svcTold } from '../support/svc.ts';
import { freePort } from '../support/temp.ts';

const GROUND_KEY = 'svc_ground789abcdef0123456789abcdef0123456789a';

describe('svc on a ground station', function () {
  this.timeout(120_000);
  const pair = boundPair();
  let drone: TestNode;
  let ground: TestNode;

  before(async () => {
    const config = `radio:\n  relay_port: ${await freePort()}\n  tunnel:\n    drone: 127.0.0.4\n`;
    [drone, ground] = await Promise.all([
      TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        config: `${config}agent:\n  name: kestrel\n`,
        prepare: bindTo(DRONE, pair.atDrone),
      }),
      TestNode.start({
        pairing: { key: GROUND_KEY },
        simulated: false,
        config: `${config}agent:\n  profile: ground-station\n  name: tent\n`,
        prepare: bindTo(GROUND, pair.atGround),
        env: { SVC_RADIO_MAVLINK_PORT: String(await freePort()) },
      }),
    ]);
    await Promise.all([drone.knowsArmed(), ground.knowsArmed()]);
  });
  after(async () => {
    await Promise.all([drone.stop(), ground.stop()]);
  });

  const here = async (...args: readonly string[]) => svc(ground.paths, ...args);
  /** With the key on stdin, as from a file. */
  const pairing = async (stdin: string) =>
    svcTold(ground.paths, stdin, 'radio', 'pair', `127.0.0.1:${drone.port}`, '--force');

  it('every command reaches a drone behind its ground station, from here and from elsewhere', async () => {
    const direct = await svc(drone.paths, 'config', 'get', 'agent.name');
    expect(direct.stdout).to.include('kestrel');
    for (const via of [`here/${DRONE}`, 'here'])
      expect((await here('config', 'get', 'agent.name', '--via', via)).stdout).to.equal(direct.stdout);
    const elsewhere = `localhost:${ground.port}`;
    const remote = ['config', 'get', 'agent.name', '--via', `${elsewhere}/${DRONE}`];
    expect((await svc(drone.paths, ...remote, '--key', GROUND_KEY)).stdout).to.equal(direct.stdout);
    // The drone's own key is not the ground station's.
    expect((await svc(drone.paths, ...remote, '--key', KEY)).code).to.equal(EXIT.refused);
    // What is read while it comes goes the same way.
    const logs = await here('logs', 'query', '--limit', '1', '--json', '--via', `here/${DRONE}`);
    expect([logs.code, JSON.parse(logs.stdout)], logs.stderr).to.have.nested.property('[0]', EXIT.done);
  });

  it('says what is wrong with --via, and a forbidden row stays forbidden', async () => {
    const unknown = await here('status', '--via', 'here/nobody');
    expect(unknown).to.include({ code: EXIT.refused });
    expect(unknown.stderr).to.include('nobody');
    expect((await here('status', '--via', 'here/a/b')).code).to.equal(EXIT.usage);
    expect((await here('status', '--via', 'here/')).code).to.equal(EXIT.usage);
    expect((await here('status', '--via', 'here', '--host', 'x')).code).to.equal(EXIT.usage);
    const unpair = await here('unpair', '--force', '--via', `here/${DRONE}`);
    expect(unpair).to.include({ code: EXIT.refused });
    expect(unpair.stderr).to.include('relay');
  });

  it('shows its status, its drones, its pilot and its recordings', async () => {
    const status = await here('gs', 'status');
    expect(status.stdout)
      .to.match(new RegExp(`^drone +${DRONE} .*active`))
      .and.to.include('pilot      nobody');
    const drones = await here('gs', 'drones');
    expect(drones.stdout).to.match(new RegExp(`^\\* slot 0 +${DRONE} .*last seen 20`));
    const chosen = await here('gs', 'drones', '--use', DRONE, '--force');
    expect(chosen.stdout).to.include(`* slot 0  ${DRONE}`);
    expect((await here('gs', 'drones', '--use', 'nobody', '--force')).code).to.equal(EXIT.refused);
    expect((await here('gs', 'pic')).stdout).to.equal('Nobody is pilot in command.\n');
    expect((await here('gs', 'recording')).stdout).to.equal('Nothing is recorded at the moment.\n');
    expect((await here('gs', 'recording', 'stop')).stderr).to.include('Video is off');
    expect((await here('gs', 'recording', 'pause')).code).to.equal(EXIT.usage);
    expect((await svc(drone.paths, 'gs', 'status')).code).to.equal(EXIT.refused);
  });

  it("binds a radio with the drone's key from stdin, lists it with its fingerprint, and forgets it", async () => {
    expect((await pairing('')).code).to.equal(EXIT.usage);
    expect((await pairing('svc_wrongwrong\n')).code).to.equal(EXIT.refused);
    const bound = await pairing(`${KEY}\n`);
    expect(bound.code, bound.stderr).to.equal(EXIT.done);
    expect(bound.stdout + bound.stderr).to.not.include(KEY);
    const fingerprint = /([0-9a-f]{4} ){7}[0-9a-f]{4}/.exec(bound.stdout)?.[0] ?? 'none';
    for (const paths of [ground.paths, drone.paths])
      expect((await svc(paths, 'radio', 'pairs')).stdout).to.include(fingerprint);
    const coded = await here('radio', 'pair', `127.0.0.1:${drone.port}`, '--code', 'XXXXXX', '--force');
    expect(coded.code).to.equal(EXIT.refused);
    expect((await here('radio', 'unpair', 'nobody', '--force')).code).to.equal(EXIT.refused);
    const gone = await here('radio', 'unpair', DRONE, '--force');
    expect(gone.stdout).to.equal(`${DRONE} is no longer bound.\n`);
    expect((await here('radio', 'pairs')).stdout).to.equal('No bound radios.\n');
    expect((await here('status', '--via', 'here')).stderr).to.include('no active drone');
  });
});
