import { expect } from 'chai';
import { configLeaves } from '../../shared/config/keys.ts';
import { raisedBy } from '../../shared/routes/classes.ts';
import { carriesLink, UNITS, unitName } from '../../shared/units.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

describe('what a request names has a class of its own', () => {
  const parameters: readonly [string, string, string][] = [
    [
      'ArduPilot',
      'flight',
      'FENCE_ENABLE ARMING_CHECK FS_THR_ENABLE MOT_SPIN_ARM SERVO9_FUNCTION FRAME_CLASS',
    ],
    [
      'ArduPilot',
      'flight',
      'ATC_RAT_PIT_P PSC_POSXY_P EK3_SRC1_POSXY COMPASS_USE2 GPS1_TYPE GPS_TYPE BATT_FS_LOW_ACT',
    ],
    [
      'ArduPilot',
      'flight',
      'RC7_OPTION SYSID_MYGCS MAV_GCS_SYSID BATT2_LOW_VOLT BRD_SAFETY_DEFLT THR_FAILSAFE FLTMODE1',
    ],
    ['ArduPilot', 'flight', 'Q_M_SPIN_ARM RLL2SRV_RMAX TECS_CLMB_MAX AHRS_EKF_TYPE SCR_ENABLE AFS_ENABLE'],
    [
      'PX4',
      'flight',
      'COM_LOW_BAT_ACT NAV_DLL_ACT GF_ACTION CBRK_SUPPLY_CHK MC_ROLL_P MPC_XY_VEL_MAX CA_ROTOR_COUNT',
    ],
    ['PX4', 'flight', 'EKF2_GPS_CTRL SYS_AUTOSTART BAT1_V_EMPTY PWM_MAIN_FUNC1 MAV_SYS_ID'],
    [
      'both',
      'admin',
      'RTL_ALT WPNAV_SPEED RTL_RETURN_ALT LOG_BITMASK MIS_TAKEOFF_ALT NTF_LED_BRIGHT SDLOG_MODE',
    ],
  ];
  for (const [firmware, wanted, names] of parameters) {
    it(`${firmware}: ${names} -> ${wanted}`, () => {
      for (const name of names.split(' ')) {
        expect(raisedBy('parameter', name)?.class ?? 'admin', name).to.equal(wanted);
        expect(raisedBy('parameter', name.toLowerCase())?.class ?? 'admin', name).to.equal(wanted);
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

  it('every spelling of a unit that carries the link is flight', () => {
    for (const name of ['link', 'svc-link', 'SVC_Link.service', 'svc.link', 'wfb', 'svc-supervisor'])
      expect(raisedBy('service', name)?.class, name).to.equal('flight');
    expect(raisedBy('service', 'svc-residual')).to.equal(null);
    // What the armed guard holds back is never a matter of `admin` alone, and both read a name in the same way.
    for (const profile of ['drone', 'ground-station'] as const)
      for (const unit of ['svc-link', 'svc-supervisor', ...UNITS].filter((each) =>
        carriesLink(each, profile),
      ))
        expect(raisedBy('service', unit)?.class, unit).to.equal('flight');
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
      for (const name of ['admin', 'flight', 'destructive', 'read flight', 'admin flight'])
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
      ['a fence', '/api/params/FENCE_ENABLE', { value: 0 }, 'admin', 'flight'],
      [
        'a fence among others',
        '/api/params',
        { params: { RTL_ALT: 1500, FENCE_ENABLE: 0 } },
        'admin',
        'flight',
      ],
      ['a plain parameter', '/api/params/RTL_ALT', { value: 1500 }, 'flight', 'admin'],
      ['a fence, by who may fly', '/api/params/FENCE_ENABLE', { value: 0 }, 'read flight', 'admin'],
      [
        'a plain parameter beside a fence',
        '/api/params',
        { params: { FENCE_ENABLE: 0, RTL_ALT: 1500 } },
        'read flight',
        'admin',
      ],
      [
        'an override that overrides nothing',
        '/api/params/RTL_ALT',
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
      expect((await put('/api/params/FENCE_ENABLE', { value: 0 }, as('admin flight'))).status).to.equal(200);
      expect((await put('/api/config', { key: 'agent.name', value: 'x' }, as('admin'))).status).to.equal(200);
      expect((await put('/api/config', { key: 'discovery.mdns', value: false }, key)).status).to.equal(200);
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
