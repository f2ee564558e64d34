import { expect } from 'chai';
import { configLeaves } from '../../shared/config/keys.ts';
import { isReservedParam } from '../../shared/mavlink/param-classes.ts';
import { raisedBy, raisedByRequest } from '../../shared/routes/classes.ts';
import { carriesLink, UNITS, unitName } from '../../shared/units.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

describe('what a request names has a class of its own', () => {
  const parameters: readonly [string, string, string][] = [
    [
      'ArduPilot',
      'flight',
      'MOT_SPIN_ARM SERVO9_FUNCTION FRAME_CLASS ATC_RAT_PIT_P PSC_POSXY_P EK3_SRC1_POSXY',
    ],
    [
      'ArduPilot',
      'flight',
      'COMPASS_USE2 GPS1_TYPE RC7_OPTION BATT2_LOW_VOLT FLTMODE1 Q_M_SPIN_ARM RLL2SRV_RMAX',
    ],
    ['ArduPilot', 'flight', 'TECS_CLMB_MAX AHRS_EKF_TYPE SCR_ENABLE RTL_ALT WPNAV_SPEED ANYTHING_NEW'],
    [
      'ArduPilot',
      'destructive',
      'ARMING_CHECK ARMING_SKIPCHK FENCE_ENABLE FENCE_RADIUS FS_THR_ENABLE AVOID_ENABLE',
    ],
    [
      'ArduPilot',
      'destructive',
      'BATT_FS_LOW_ACT BATT2_FS_CRT_ACT BRD_SAFETY_DEFLT BRD_SAFETYENABLE THR_FAILSAFE',
    ],
    [
      'ArduPilot',
      'keyonly',
      'FORMAT_VERSION RALLY_TOTAL MIS_TOTAL FENCE_TOTAL STAT_RESET STAT_BOOTCNT BRD_TYPE',
    ],
    ['ArduPilot', 'keyonly', 'SYSID_THISMAV SYSID_MYGCS MAV_GCS_SYSID SERIAL1_PROTOCOL SERIAL2_BAUD'],
    [
      'PX4',
      'flight',
      'MC_ROLL_P MPC_XY_VEL_MAX CA_ROTOR_COUNT EKF2_GPS_CTRL BAT1_V_EMPTY PWM_MAIN_FUNC1 MIS_TAKEOFF_ALT',
    ],
    ['PX4', 'destructive', 'COM_LOW_BAT_ACT COM_RC_LOSS_T NAV_RCL_ACT NAV_DLL_ACT GF_ACTION CBRK_SUPPLY_CHK'],
    ['PX4', 'keyonly', 'SYS_AUTOSTART SYS_AUTOCONFIG MAV_SYS_ID MAV_TYPE MAV_0_CONFIG SER_TEL1_BAUD'],
    [
      'both',
      'admin',
      'LOG_BITMASK NTF_LED_BRIGHT SDLOG_MODE SR1_EXTRA1 MAV1_EXTRA1 MAV_1_RATE OSD1_ALTITUDE_X',
    ],
  ];
  for (const [firmware, wanted, names] of parameters) {
    it(`${firmware}: ${names} -> ${wanted}`, () => {
      for (const name of names.split(' ')) {
        expect(raisedBy('parameter', name).at(-1)?.class ?? 'admin', name).to.equal(wanted);
        expect(raisedBy('parameter', name.toLowerCase()).at(-1)?.class ?? 'admin', name).to.equal(wanted);
      }
    });
  }

  it('whatever carries authority among the config keys is the key’s or root’s, with a reason', () => {
    const authority =
      /^(?:security|features|api|discovery)\.|^mavlink\.(?:source|endpoints)$|^video\.(?:outputs|follow_)|directory$/;
    for (const [key, leaf] of configLeaves()) {
      if (authority.test(key)) expect(leaf['x-class'], key).to.be.oneOf(['keyonly', 'root']);
      if (leaf['x-class'] !== undefined)
        expect(leaf['x-reason'], key).to.be.a('string').with.length.above(10);
      expect(leaf['x-restart']?.length, key).to.be.above(0);
    }
  });

  it('what is the key’s among the parameters is reserved, and nothing else', () => {
    for (const [, wanted, names] of parameters)
      for (const name of names.split(' ')) expect(isReservedParam(name), name).to.equal(wanted === 'keyonly');
  });

  it('each text of a list in the body counts, once for each class, and nothing else of it', () => {
    const names = { kind: 'parameter', in: 'body-list', member: 'names' } as const;
    const raised = (body: unknown): unknown[] =>
      raisedByRequest([names], {}, body).map(({ name, class: found }) => [name, found]);
    expect(raised({ names: ['LOG_BITMASK', 3, null, 'MOT_SPIN_ARM', 'SERVO1_FUNCTION'] })).to.deep.equal([
      ['MOT_SPIN_ARM', 'flight'],
    ]);
    expect(raised({ names: 'MOT_SPIN_ARM' })).to.deep.equal([]);
    const members = { kind: 'parameter', in: 'body-members', member: 'params' } as const;
    for (const body of [{ params: null }, { params: 3 }, {}, null])
      expect(raisedByRequest([members], {}, body), JSON.stringify(body)).to.deep.equal([]);
    const path = { kind: 'parameter', in: 'path', member: 'name' } as const;
    expect(raisedByRequest([path], {}, {})).to.deep.equal([]);
    expect(raisedByRequest([path], { name: ' mot_spin_arm ' }, {}).at(-1)?.class).to.equal('flight');
    expect(raisedBy('parameter', ' sysid_thismav ').at(-1)?.class).to.equal('keyonly');
    expect(raisedBy('config-key', 'no.such.key')).to.deep.equal([]);
  });

  it('a mission has the classes of its items, each named by its place', () => {
    const mission = { kind: 'mission', in: 'document', member: '' } as const;
    const raised = (...commands: readonly number[]): unknown[] =>
      raisedByRequest([mission], {}, { items: commands.map((command) => ({ command, param1: 0 })) }).map(
        ({ name, class: found }) => [name, found],
      );
    expect(raised(16, 22)).to.deep.equal([]);
    expect(raised(16, 185, 207)).to.deep.equal([
      ['DO_FLIGHTTERMINATION (at index 1)', 'destructive'],
      ['DO_FENCE_ENABLE (at index 2)', 'admin'],
    ]);
    // So has a plan of QGroundControl, of today or as it was once.
    const item = {
      type: 'SimpleItem',
      command: 185,
      frame: 2,
      params: [0, 0, 0, 0, 0, 0, 0],
      autoContinue: true,
    };
    const old = { groundStation: 'QGroundControl', items: [item] };
    for (const plan of [old, { fileType: 'Plan', mission: { items: [item] } }])
      expect(raisedByRequest([mission], {}, plan).map(({ class: found }) => found)).to.deep.equal([
        'destructive',
      ]);
  });

  it('every spelling of a unit that carries the link is flight', () => {
    for (const name of ['link', 'svc-link', 'SVC_Link.service', 'svc.link', 'wfb', 'svc-supervisor'])
      expect(raisedBy('service', name).at(-1)?.class, name).to.equal('flight');
    expect(raisedBy('service', 'svc-residual')).to.deep.equal([]);
    // What the armed guard holds back is never a matter of `admin` alone, and both read a name in the same way.
    for (const profile of ['drone', 'ground-station'] as const)
      for (const unit of ['svc-link', 'svc-supervisor', ...UNITS].filter((each) =>
        carriesLink(each, profile),
      ))
        expect(raisedBy('service', unit).at(-1)?.class, unit).to.equal('flight');
    for (const name of ['link', 'svc_link', 'svc.link.service'])
      expect(carriesLink(unitName(name), 'drone'), name).to.equal(true);
  });

  describe('on a node', () => {
    let node: TestNode;
    let session: string;
    const tokens = new Map<string, string>();
    const key = { 'x-svc-key': KEY };
    before(async () => {
      node = await TestNode.start({
        pairing: { key: KEY },
        config:
          'mcp:\n  token_accept_enabled: true\nvideo:\n  source: rtsp://127.0.0.1:1/a\n  username: u\n  password: p\n',
      });
      for (const name of [
        'admin',
        'flight',
        'destructive',
        'read flight',
        'admin flight',
        'admin flight destructive',
      ])
        tokens.set(
          name,
          String((await node.post('/api/mcp/tokens', { scopes: name.split(' ') }, key)).body['token']),
        );
      await node.post('/api/dashboard/pin/set', { pin: '2468' }, key);
      session = String((await node.post('/api/dashboard/pin/verify', { pin: '2468' })).body['session']);
    });
    after(async () => node.stop());

    const put = async (path: string, body: unknown, headers: Record<string, string>) =>
      node.json(path, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const as = (scope: string) => ({ 'x-svc-mcp-token': tokens.get(scope) ?? '' });

    const cases: readonly [string, string, unknown, string, string][] = [
      [
        'an endpoint without the guard',
        '/api/config',
        { key: 'mavlink.endpoints', value: ['tcp:0.0.0.0:5790?force=1'] },
        'admin',
        'keyonly',
      ],
      ['switching revocation off', '/api/config', { key: 'features.mcp', value: false }, 'admin', 'keyonly'],
      [
        'switching revocation off',
        '/api/config',
        { key: 'features.mcp', value: false },
        'destructive',
        'keyonly',
      ],
      [
        'dropping kept records',
        '/api/config',
        { key: 'logging.store.max_age_days', value: 1 },
        'admin',
        'destructive',
      ],
      ['a fence', '/api/params/FENCE_ENABLE', { value: 0 }, 'admin flight', 'destructive'],
      ['a height', '/api/params/RTL_ALT', { value: 1500 }, 'admin', 'flight'],
      [
        'a fence among others',
        '/api/params',
        { params: { RTL_ALT: 1500, FENCE_ENABLE: 0 } },
        'admin flight',
        'destructive',
      ],
      ['a plain parameter', '/api/params/LOG_BITMASK', { value: 1 }, 'flight', 'admin'],
      ['a fence, by who may fly', '/api/params/FENCE_ENABLE', { value: 0 }, 'read flight', 'destructive'],
      [
        'a plain parameter beside a fence',
        '/api/params',
        { params: { FENCE_ENABLE: 0, RTL_ALT: 1500 } },
        'admin flight',
        'destructive',
      ],
      [
        'an override that overrides nothing',
        '/api/params/LOG_BITMASK',
        { value: 1500, force: true },
        'destructive',
        'admin',
      ],
      [
        'the same of a key',
        '/api/config',
        { key: 'agent.name', value: 'x', force: true },
        'destructive',
        'admin',
      ],
    ];
    for (const [name, path, body, scope, required] of cases) {
      it(`${name}: ${scope} is not enough, ${required} is asked for`, async () => {
        const answer = await put(path, body, as(scope));
        expect(answer.status, JSON.stringify(answer.body)).to.equal(403);
        expect(answer.body).to.include({ code: 'E_SCOPE', required });
      });
    }

    it('a dashboard session is not the pairing key', async () => {
      const answer = await put(
        '/api/config',
        { key: 'features.mcp', value: false },
        { 'x-svc-dashboard-session': session },
      );
      expect(answer.body).to.include({ code: 'E_SCOPE', required: 'keyonly' });
      expect(answer.body['detail']).to.match(/features\.mcp .*pairing key/);
    });

    it('the classes that are asked for are enough, and the key needs none', async () => {
      const safe = as('admin flight destructive');
      expect((await put('/api/params/FENCE_ENABLE', { value: 0 }, safe)).status).to.equal(200);
      expect((await put('/api/params/RTL_ALT', { value: 1500 }, as('admin flight'))).status).to.equal(200);
      expect((await put('/api/params/LOG_BITMASK', { value: 1 }, as('admin'))).status).to.equal(200);
      expect((await put('/api/config', { key: 'agent.name', value: 'x' }, as('admin'))).status).to.equal(200);
      expect((await put('/api/config', { key: 'discovery.mdns', value: false }, key)).status).to.equal(200);
    });

    it('what erases the vehicle is for no token, and the key names it once more', async () => {
      const all = as('admin flight destructive');
      for (const [path, body] of [
        ['/api/params/FORMAT_VERSION', { value: 0, confirm: 'FORMAT_VERSION' }],
        ['/api/params', { params: { LOG_BITMASK: 1, RALLY_TOTAL: 9 }, confirm: ['RALLY_TOTAL'] }],
      ] as const)
        expect((await put(path, body, all)).body).to.include({ code: 'E_SCOPE', required: 'keyonly' });
      const bare = await put('/api/params', { params: { LOG_BITMASK: 2, RALLY_TOTAL: 9 } }, key);
      expect([bare.status, bare.body['errors']]).to.deep.equal([
        422,
        [{ path: '/confirm', message: 'must be "RALLY_TOTAL"' }],
      ]);
      expect((await put('/api/params/SERIAL1_PROTOCOL', { value: 2 }, key)).status).to.equal(422);
      const named = { value: 2, confirm: 'SERIAL1_PROTOCOL' };
      expect((await put('/api/params/SERIAL1_PROTOCOL', named, key)).status).to.be.oneOf([200, 404]);
      const reset = await node.post('/api/params/reset', { names: ['STAT_BOOTCNT'] }, all);
      expect(reset.body).to.include({ code: 'E_SCOPE', required: 'keyonly' });
    });

    it('a mission needs every class of its items, in whatever form it comes', async () => {
      const item = (command: number, ...params: number[]) => ({
        frame: 3,
        command,
        ...Object.fromEntries(params.map((value, index) => [`param${index + 1}`, value])),
        x: 0,
        y: 0,
        z: 0,
      });
      const asPlan = (command: number, param1: number) => ({
        fileType: 'Plan',
        version: 1,
        mission: {
          items: [
            { type: 'SimpleItem', command, frame: 2, params: [param1, 0, 0, 0, 0, 0, 0], autoContinue: true },
          ],
        },
      });
      for (const [body, required] of [
        [{ items: [item(22), item(208, 2)] }, 'destructive'],
        [{ items: [item(218, 31, 2)] }, 'destructive'],
        [{ items: [item(218, 165)] }, 'destructive'],
        [{ items: [item(207)] }, 'destructive'],
        [asPlan(208, 2), 'destructive'],
      ] as const)
        for (const path of ['/api/mission', '/api/mission?dry_run=1', '/api/fence?parts=mission']) {
          const answer = await put(path, body, as('flight'));
          expect([answer.status, answer.body['required']], JSON.stringify(body)).to.deep.equal([
            403,
            required,
          ]);
        }
      const wpl = await node.json('/api/mission', {
        method: 'PUT',
        headers: { 'content-type': 'text/plain', ...as('flight') },
        body: 'QGC WPL 110\n0\t1\t0\t16\t0\t0\t0\t0\t1\t1\t0\t1\n1\t0\t3\t208\t2\t0\t0\t0\t0\t0\t0\t1\n',
      });
      expect(wpl.body).to.include({ code: 'E_SCOPE', required: 'destructive' });
    });

    it('a password does not follow the camera to another host', async () => {
      const secret = async () =>
        (await node.json('/api/config/secret/video.password', { headers: key })).body['value'];
      const moved = await put(
        '/api/config',
        { key: 'video.source', value: 'rtsp://127.0.0.1:1/b' },
        as('admin'),
      );
      expect(moved.body['cleared']).to.deep.equal([]);
      expect(await secret()).to.equal('p');
      const stolen = await put(
        '/api/config',
        { key: 'video.source', value: 'rtsp://127.0.0.2:1/a' },
        as('admin'),
      );
      expect(stolen.status).to.equal(200);
      expect(stolen.body['cleared']).to.deep.equal(['video.username', 'video.password']);
      expect(await secret()).to.equal(null);
    });

    it('and says so in the schema, in OpenAPI and in svc explain', async () => {
      const schema = JSON.stringify((await node.json('/api/config/schema', { headers: key })).body);
      expect(schema).to.include('"x-class":"keyonly"').and.include('"x-reason"');
      const { body } = await node.json('/openapi.json', { headers: key });
      expect(JSON.stringify(body)).to.include('"names":[{"kind":"config-key","in":"body","member":"key"}]');
      const { stdout } = await svc(
        node.paths,
        'explain',
        'POST',
        '/api/params/FENCE_ENABLE',
        '--as',
        'token:admin',
      );
      expect(stdout)
        .to.include('refuse 403 E_SCOPE')
        .and.include('FENCE_ENABLE also needs flight: it limits where it may fly')
        .and.include(
          'asked in order: target, origin, inner target, relay, fleet, tls, unpaired, public, budget, credential\n',
        );
      const healthy = await svc(node.paths, 'explain', 'GET', '/healthz');
      expect(healthy.stdout).to.include('relay, fleet, tls, unpaired, public\n');
    });
  });
});
