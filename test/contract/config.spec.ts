import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { enabledFeatures } from '../../shared/config/features.ts';
import { type ConfigNode, configLeaves } from '../../shared/config/keys.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import { configSchema } from '../../shared/config/schema.ts';
import { settingsOf, topicsOf } from '../../shared/config/settings.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

describe('the config file', () => {
  const broken: readonly [string, string, RegExp][] = [
    [
      'a wrong value',
      'agent:\n  profile: plane\n',
      /f\.yaml line 2: agent\.profile must be drone or ground-station/,
    ],
    ['an unknown key', 'agent:\n  profil: drone\n', /f\.yaml line 2: agent\.profil is not known here/],
    ['bad YAML', 'agent: [\n', /f\.yaml line \d: Flow sequence/],
    ['not a mapping', '- a\n', /f\.yaml line 1: the document must be an object/],
    ['E8 a wildcard origin', 'security:\n  api:\n    cors_origins: ["*"]\n', /cors_origins\.0/],
    ['an alias bomb', 'a: &a [1]\nb: *a\n', /alias/i],
  ];
  for (const [name, text, why] of broken) {
    it(`names line and key of ${name}`, () => expect(() => parseConfig(text, 'f.yaml')).to.throw(why));
  }
  it('names all that is wrong at once, each with its own line', () => {
    const text = `agent:
  profile: plane

logging:
  # how much is written
  level:
  store:
    max_mb: many
mavlink:
  source: sim
  endpoints:
    - udp:127.0.0.1:14550
    - nonsense
vidio: {}
`;
    const wrong = (): unknown => parseConfig(text, 'f.yaml');
    expect(wrong).to.throw(/^f\.yaml line 2: agent\.profile must be /);
    expect(wrong).to.throw(/; line 6: logging\.level must be /);
    expect(wrong).to.throw(/; line 8: logging\.store\.max_mb must be a whole number/);
    expect(wrong).to.throw(/; line 13: mavlink\.endpoints\.1 must be /);
    expect(wrong).to.throw(/; line 14: vidio is not known here$/);
    const twice = 'agent:\n  profile: drone\n  profile: drone\nagent: {}\n';
    expect(() => parseConfig(twice, 'f.yaml')).to.throw(/line 3: .*unique; line 4: .*unique/);
  });

  it('reads what people write by hand: sections and lists of comments alone, texts that look like numbers', () => {
    const text = `agent:
  # name: kite
mavlink:
  source: sim
  endpoints:
    # - udp:127.0.0.1:14550
radio:
  region: 00
video:
  hero:
fleet:
  operators: []
upload:
  bucket: 2026
`;
    const { agent, mavlink, radio, upload, video } = parseConfig(text, 'f.yaml');
    const plain = parseConfig('', 'f.yaml');
    expect([agent, mavlink.endpoints, video]).to.deep.equal([
      plain.agent,
      plain.mavlink.endpoints,
      plain.video,
    ]);
    expect([mavlink.source, radio.region, upload.bucket]).to.deep.equal(['sim', '00', '2026']);
    expect(() => parseConfig('agent:\n  name:\n', 'f.yaml')).to.throw(/line 2: agent\.name must be text/);
  });

  it('fills in defaults, the least that a node can allow', () => {
    const config = parseConfig('', 'f.yaml');
    expect(config.mcp.token_accept_enabled).to.equal(false);
    expect(config.api.port).to.equal(8080);
    expect(config.security.api.cors_origins).to.deep.equal([]);
  });
  it('takes other spellings of the ground station', () => {
    for (const text of ['ground_station', 'groundstation', 'ground-station']) {
      expect(parseConfig(`agent:\n  profile: ${text}\n`, 'f').agent.profile).to.equal('ground-station');
    }
  });
  it('switches features by profile and by hand', () => {
    expect(enabledFeatures(parseConfig('', 'f')))
      .to.include('vision')
      .and.not.include('ground-station');
    expect(enabledFeatures(parseConfig('features:\n  vision: false\n', 'f'))).to.not.include('vision');
    expect(enabledFeatures(parseConfig('agent:\n  profile: ground-station\n', 'f')))
      .to.include('ground-station')
      .and.not.include('vision');
  });
});

describe('GET and PUT /api/config', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: '# kept\nlogging:\n  level: info # also kept\nmavlink:\n  endpoints: ["tcp:0.0.0.0:5790"]\n',
    });
    await node.knowsArmed();
  });
  after(async () => node.stop());

  const headers = { 'x-svc-key': KEY, 'content-type': 'application/json' };
  const put = async (key: unknown, value: unknown) =>
    node.json('/api/config', { method: 'PUT', headers, body: JSON.stringify({ key, value }) });
  const get = async () =>
    (await node.json('/api/config', { headers })).body as {
      logging: { level: string };
      security: { api: { cors_origins: string[] } };
      radio: { tx_power_dbm: number | null };
      video: { ice: { servers: unknown } };
    };

  it('writes one key, keeps comments and says which process must restart', async () => {
    const { status, body } = await put('logging.level', 'debug');
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      key: 'logging.level',
      value: 'debug',
      persisted: true,
      restart_required: ['svc-supervisor'],
      cleared: [],
      note: null,
    });
    expect((await get()).logging.level).to.equal('debug');
    const text = await readFile(node.paths.config, 'utf8');
    expect(text).to.include('# kept').and.include('# also kept').and.include('level: debug');
  });

  it('shows a secret that is cleared as cleared', async () => {
    expect((await put('rtk.ntrip.password', 'hush')).body['value']).to.equal('***');
    expect((await put('rtk.ntrip.password', '')).body['value']).to.equal('');
  });

  it('says which settings of a radio that somebody else runs change nothing', async () => {
    expect((await put('radio.mcs', '2')).body['note']).to.equal(null);
    expect((await put('radio.mode', 'external')).status).to.equal(200);
    expect((await put('radio.mcs', '3')).body['note']).to.match(
      /^radio\.mode is external: this node does not/,
    );
    expect((await put('radio.adaptive', 'false')).body['note']).to.equal(null);
    expect((await put('radio.mode', 'off')).status).to.equal(200);
  });

  it('writes into a section of which everything is a comment, and keeps that', async () => {
    const text = await readFile(node.paths.config, 'utf8');
    await writeFile(node.paths.config, `${text}upload:\n  # region: eu-west-1\n`);
    expect((await put('upload.bucket', 'flights')).status).to.equal(200);
    expect(await readFile(node.paths.config, 'utf8')).to.match(
      /upload:\n +# region: eu-west-1\n +bucket: flights/,
    );
  });

  it('reads a text as the type of the key', async () => {
    expect(
      (await put('security.api.cors_origins', 'http://a.example, http://b.example')).body['value'],
    ).to.deep.equal(['http://a.example', 'http://b.example']);
    const deep = await put('security.api.cors_origins', `${'['.repeat(30_000)}${']'.repeat(30_000)}`);
    expect([deep.status, deep.body['code']]).to.deep.equal([422, 'E_INVALID_VALUE']);
    expect((await put('security.api.cors_origins', '["http://c.example"]')).body['value']).to.deep.equal([
      'http://c.example',
    ]);
    const camera = { id: 'tail', name: 'Tail', source: 'test' };
    expect((await put('video.cameras', JSON.stringify([camera]))).body).to.deep.include({
      value: [camera],
      restart_required: ['svc-video', 'svc-residual'],
    });
    expect((await put('security.api.cors_enabled', 'false')).body['value']).to.equal(false);
    expect((await put('api.port', String(node.port))).body['value']).to.equal(node.port);
    expect((await get()).security.api.cors_origins).to.deep.equal(['http://c.example']);
  });

  for (const [text, value] of [
    ['20', 20],
    [' 21 ', 21],
    ['null', null],
    ['', null],
  ] as const)
    it(`a number that may be null takes the text ${JSON.stringify(text)}`, async () => {
      const answer = await put('radio.tx_power_dbm', text);
      expect([answer.status, answer.body['value']]).to.deep.equal([200, value]);
      expect((await get()).radio.tx_power_dbm).to.equal(value);
    });

  const cameras = [
    { id: 'main', name: 'A', source: 'test' },
    { id: 'a', name: 'A', source: 'none' },
    { id: 'a', name: '', source: 'test' },
    { id: 'a', name: 'A', source: 'rtsp://u:p@10.0.0.9/live' },
    { id: 'a', name: 'A', source: 'test', password: 'p' },
  ];
  const refused: readonly (readonly [string, unknown, unknown, number, string])[] = [
    ...cameras.map(
      (camera) =>
        [`the camera ${JSON.stringify(camera)}`, 'video.cameras', [camera], 422, 'E_INVALID_VALUE'] as const,
    ),
    [
      'a text that is no number for a number that may be null',
      'radio.tx_power_dbm',
      'loud',
      422,
      'E_INVALID_VALUE',
    ],
    ['null for a number that may not be null', 'radio.mcs', 'null', 422, 'E_INVALID_VALUE'],
    ['an unknown key', 'no.such.key', 1, 404, 'E_UNKNOWN_KEY'],
    ['a section', 'logging', {}, 404, 'E_UNKNOWN_KEY'],
    ['a prototype member', '__proto__.x', 1, 404, 'E_UNKNOWN_KEY'],
    ['a bad value', 'logging.level', 'loud', 422, 'E_INVALID_VALUE'],
    ['a wrong type', 'api.port', true, 422, 'E_INVALID_VALUE'],
    ['no key', undefined, 1, 422, 'E_INVALID_VALUE'],
    ["C11 a key that is root's", 'mcp.token_accept_enabled', 'true', 403, 'E_ROOT_ONLY'],
    ['C11 the same in other spellings', 'mcp.token_accept_enabled', ' TRUE', 403, 'E_ROOT_ONLY'],
    ['E8 a wildcard origin', 'security.api.cors_origins', ['*'], 422, 'E_INVALID_VALUE'],
    ["the node's own endpoint", 'mavlink.source', 'tcp:127.0.0.1:5790', 422, 'E_INVALID_VALUE'],
    ['corrections from this machine', 'rtk.source', 'tcp:127.0.0.1:22', 422, 'E_INVALID_VALUE'],
    ["a caster that is a cloud's service", 'rtk.ntrip.host', '169.254.169.254', 422, 'E_INVALID_VALUE'],
    ['a store on this machine', 'upload.endpoint', 'http://localhost:9000', 422, 'E_INVALID_VALUE'],
    ['a port that is none', 'mavlink.source', 'udp:0.0.0.0:70000', 422, 'E_INVALID_VALUE'],
    ['port 0', 'mavlink.source', 'tcp:10.0.0.1:0', 422, 'E_INVALID_VALUE'],
    ['a baud rate of 0', 'mavlink.source', 'serial:/dev/ttyACM0:0', 422, 'E_INVALID_VALUE'],
    ['an endpoint that cannot be opened', 'mavlink.endpoints', ['tcp:0.0.0.0:0'], 422, 'E_INVALID_VALUE'],
    ['a camera on a port that is none', 'video.source', 'rtp:0.0.0.0:70000', 422, 'E_INVALID_VALUE'],
    ['a login in the URL of a camera', 'video.source', 'rtsp://u:p@10.0.0.9/live', 422, 'E_INVALID_VALUE'],
    [
      'two cameras of one id',
      'video.cameras',
      '[{"id":"a","name":"A","source":"test"},{"id":"a","name":"B","source":"test"}]',
      422,
      'E_INVALID_VALUE',
    ],
    ['an address that is none', 'api.host', 'everywhere', 422, 'E_INVALID_VALUE'],
  ];
  for (const [name, key, value, status, code] of refused) {
    it(`refuses ${name} with ${code} and writes nothing`, async () => {
      const before = await readFile(node.paths.config, 'utf8');
      const answer = await put(key, value);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
      expect(answer.body).to.include({ code });
      expect(await readFile(node.paths.config, 'utf8')).to.equal(before);
    });
  }

  it('does not write over a file that is broken, and says so', async () => {
    const before = await readFile(node.paths.config, 'utf8');
    await writeFile(node.paths.config, 'agent: [\n');
    try {
      const answer = await put('logging.level', 'info');
      expect(answer.status).to.equal(503);
      expect(answer.body).to.include({ code: 'E_STORE' });
      expect(answer.body['detail']).to.match(/config\.yaml line/);
      expect(await readFile(node.paths.config, 'utf8')).to.equal('agent: [\n');
      expect((await get()).logging.level).to.equal('debug'); // the last good copy
    } finally {
      await writeFile(node.paths.config, before);
    }
  });

  it('a name that would control a terminal or turn text round, a device outside of /dev, an operator whom anybody could sign for: refused', async () => {
    for (const [key, value] of [
      ['agent.name', 'a\u001b[2Jb'],
      ['agent.name', 'a\u202eb'],
      ['agent.name', 'a\nb'],
      ['video.source', 'v4l2:/dev/../etc/passwd'],
      ['fleet.operators', [`eve ${'A'.repeat(43)}`]],
    ] as const) {
      const { status, body } = await put(key, value);
      expect([status, body['code']], String(value)).to.deep.equal([422, 'E_INVALID_VALUE']);
    }
  });

  it('parallel writes all land', async () => {
    const origins = Array.from({ length: 10 }, (_, i) => `http://h${i}.example`);
    const answers = await Promise.all([
      put('security.api.cors_origins_extra', origins),
      put('agent.name', 'bench'),
      put('security.pairing.require_code', true),
    ]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    const text = await readFile(node.paths.config, 'utf8');
    expect(text).to.include('h9.example').and.include('name: bench').and.include('require_code: true');
  });

  it('one secret is shown to who may read secrets, masked everywhere else, and no other key is', async () => {
    const secret = async (key: string) => node.json(`/api/config/secret/${key}`, { headers });
    expect((await secret('video.password')).body).to.deep.equal({
      key: 'video.password',
      value: null,
      set: false,
    });
    const written = await put('video.password', 'hunter22');
    expect(written.status).to.equal(200);
    expect(written.body).to.include({ value: '***' });
    expect((await secret('video.password')).body).to.include({ value: 'hunter22', set: true });
    expect(JSON.stringify(await get())).to.not.include('hunter22');
    expect((await put('video.password', '***')).status).to.equal(422);
    for (const key of ['logging.level', 'no.such', 'video']) {
      const { status, body } = await secret(key);
      expect([status, body['code']], key).to.deep.equal([404, 'E_UNKNOWN_KEY']);
    }
    const audit = await readFile(`${node.paths.auditDir}/audit.ndjson`, 'utf8');
    expect(audit).to.include('GET /api/config/secret').and.not.include('hunter22');
  });

  it('secrets within a list: masked in answers, files and audit; the mask is not written back', async () => {
    const secret = 'of-coturn-and-this-node';
    const servers = [{ urls: ['stun:a.example'] }, { urls: ['turn:b.example'], secret }];
    const shown = [{ urls: ['stun:a.example'] }, { urls: ['turn:b.example'], secret: '***' }];
    for (const value of [servers, JSON.stringify(servers)]) {
      const written = await put('video.ice.servers', value);
      expect([written.status, written.body['value']]).to.deep.equal([200, shown]);
    }
    expect((await get()).video.ice.servers).to.deep.equal(shown);
    for (const wrong of [
      shown,
      JSON.stringify(shown),
      [{ urls: ['turn:b.example'] }],
      [{ urls: ['turn:b.example'], username: 'u' }],
      [{ urls: ['turn:b.example'], username: 'u', credential: 'a\r\nb' }],
      [{ urls: ['turn:b.example'], secret, username: 'u', credential: 'c' }],
      [{ urls: [] }],
    ]) {
      const { status, body } = await put('video.ice.servers', wrong);
      expect([status, body['code']], JSON.stringify(wrong)).to.deep.equal([422, 'E_INVALID_VALUE']);
      expect(JSON.stringify(body)).to.not.include(secret);
    }
    expect(await readFile(node.paths.config, 'utf8')).to.include(secret);
    const audit = await readFile(`${node.paths.auditDir}/audit.ndjson`, 'utf8');
    expect(audit).to.include('video.ice.servers').and.not.include(secret);
    expect((await put('video.ice.servers', [])).body['value']).to.deep.equal([]);
  });

  it('the schema says what a settings page needs', async () => {
    const { body } = await node.json('/api/config/schema', { headers });
    const properties = body['properties'] as {
      mcp: { properties: { token_accept_enabled: Record<string, unknown> } };
    };
    expect(properties.mcp.properties.token_accept_enabled).to.include({
      default: false,
      'x-class': 'root',
    });
  });

  it('every key has a title, a topic, a description, a default (but for the feature overrides) and bounds', () => {
    const topics = topicsOf(configSchema, settingsOf<ConfigNode>(configSchema));
    expect(topics.flatMap(({ settings }) => settings)).to.have.lengthOf(configLeaves().length);
    const lacking: string[] = [];
    const visit = (schema: ConfigNode, path: string): void => {
      if (schema.properties !== undefined) {
        for (const [name, child] of Object.entries(schema.properties)) visit(child, `${path}${name}.`);
        return;
      }
      const key = path.slice(0, -1);
      const bounded =
        schema.type === 'boolean' ||
        schema['enum'] !== undefined ||
        schema['maxLength'] !== undefined ||
        schema['maximum'] !== undefined ||
        schema['maxItems'] !== undefined ||
        String(schema['pattern']).startsWith('^');
      if (schema.title === undefined) lacking.push(`${key}: no title`);
      const words = schema['x-words'];
      if (words !== undefined && words.length !== schema.enum?.length)
        lacking.push(`${key}: not a word for each choice`);
      if (schema['description'] === undefined) lacking.push(`${key}: no description`);
      if (schema['default'] === undefined && !key.startsWith('features.')) lacking.push(`${key}: no default`);
      if (!bounded) lacking.push(`${key}: no bound`);
      if (schema['x-restart'] === undefined)
        lacking.push(`${key}: does not say which process reads it at start`);
    };
    visit(configSchema, '');
    expect(lacking).to.deep.equal([]);
  });
});

describe('a node whose config file is broken at start', () => {
  it('H11 runs on the last good copy and says what is wrong', async () => {
    const node = await TestNode.start({ pairing: { key: KEY }, config: 'logging:\n  level: warn\n' });
    await node.knowsArmed();
    try {
      await writeFile(node.paths.config, 'api:\n  port: eighty\n');
      await node.killAndAwaitSuccessor('svc-control');
      const { status, body } = await node.json('/api/status', { headers: { 'x-svc-key': KEY } });
      expect(status).to.equal(200);
      expect(body['config']).to.deep.include({ ok: false });
      expect((body['config'] as { problem: string }).problem).to.match(/line 2: api\.port/);
    } finally {
      await node.stop();
    }
  });
});
