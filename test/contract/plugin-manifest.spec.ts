import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { higher, SCOPES } from '../../shared/auth/scopes.ts';
import {
  CAPABILITIES,
  capabilityOf,
  isCapability,
  mayPublish,
  maySubscribe,
  riskReason,
  toolClass,
} from '../../shared/plugins/capabilities.ts';
import { parseManifest, requestedPermissions, svcVersionFits } from '../../shared/plugins/manifest.ts';
import { METHOD_CAPABILITIES } from '../../shared/plugins/methods.ts';
import { NOT_OFFERED } from '../../shared/plugins/not-offered.ts';
import { mayReadPart } from '../../shared/plugins/telemetry-part.ts';
import { MANIFEST } from '../support/foreign-archives.ts';
import { ROOT } from '../support/node.ts';

/** The manifest with a part of its text replaced. */
function changed(from: string, to: string): string {
  if (!MANIFEST.includes(from)) throw new Error(`the manifest has no ${from}`);
  return MANIFEST.replace(from, to);
}

function read(text: string) {
  const { manifest, violations } = parseManifest(text);
  if (manifest === null) throw new Error(JSON.stringify(violations));
  return manifest;
}

describe('the manifest of an extension', () => {
  it('has every default filled in', () => {
    const { manifest, violations, warnings } = parseManifest(`id: a.b
version: 1.0.0
compatibility: {svc_version: ">=0.1"}
agent: {entrypoint: "demo.main:Demo"}
gcs: {entrypoint: gcs/plugin.bundle.js, permissions: [ui.slot.fc-tab]}
`);
    expect({ violations, warnings }).to.deep.equal({ violations: [], warnings: [] });
    expect(manifest).to.deep.include({ schema_version: 1, name: 'a.b', risk: 'medium', homepage: null });
    expect(manifest?.agent).to.deep.include({
      runtime: 'python',
      resources: { max_ram_mb: 96, max_cpu_percent: 25, max_pids: 12 },
      target_profiles: ['drone'],
      http: false,
      listen_ports: [],
    });
    expect(manifest?.gcs?.permissions).to.deep.equal([
      { id: 'ui.slot.fc-tab', required: true, degraded_behavior: null },
    ]);
  });

  describe('is refused, with the place, for', () => {
    const agent = (more: string) => `${MANIFEST}${more}`;
    const cases: Readonly<Record<string, readonly [text: string, path: string, message: RegExp]>> = {
      'a list instead of a map': ['- a', '', /must be a map/],
      'nothing at all': ['', '', /must be a map/],
      'two documents': [`${MANIFEST}---\n${MANIFEST}`, '', /not valid YAML/],
      'an alias': [`${MANIFEST}extra: &x {a: 1}\nfeatures: *x\n`, '/features', /alias/],
      'an anchor': [`${MANIFEST}extra: &x {a: 1}\n`, '/extra', /anchor/],
      'a tag of YAML': [changed('Demo', '!!str Demo'), '/name', /tag/],
      'a tag of its own': [changed('Demo', '!js Demo'), '', /tag/i],
      'a directive': [`%YAML 1.1\n---\n${MANIFEST}`, '', /directive/],
      'a merge key': [`${MANIFEST}extra:\n  <<: {a: 1}\n`, '/extra/<<', /merge/],
      'the same key twice': [`${MANIFEST}name: Other\n`, '/name', /twice/],
      'a key that reaches a prototype': [`${MANIFEST}__proto__: {a: 1}\n`, '/__proto__', /not allowed/],
      'a key that is a number': [`${MANIFEST}extra: {1: a}\n`, '/extra/1', /not a text/],
      'deep nesting': [
        `${MANIFEST}extra: {a: ${'['.repeat(40)}${']'.repeat(40)}}\n`,
        `/extra/a${'/0'.repeat(31)}`,
        /deeper/,
      ],
      'nesting that would hold the node for seconds': [`extra: ${'['.repeat(50_000)}`, '', /brackets/],
      'nesting in one line without brackets': [`extra:\n  ${'- '.repeat(20_000)}a\n`, '', /levels/],
      'more than 64 KiB': [`${MANIFEST}description: ${'x'.repeat(64 * 1024)}\n`, '', /64 KiB/],
      'no id': [changed('id: org.example.demo\n', ''), '', /needs "id"/],
      'an id without a dot': [changed('org.example.demo', 'demo'), '/id', /right form/],
      'an id in capitals': [changed('org.example.demo', 'Org.Demo'), '/id', /right form/],
      'an id that leads out': [changed('org.example.demo', '"a/../b"'), '/id', /right form/],
      'an id of 200 characters': [changed('org.example.demo', `a.${'b'.repeat(200)}`), '/id', /128/],
      'a version that is none': [changed('1.2.3', '"1.2"'), '/version', /semantic-version/],
      'a version with a v': [changed('1.2.3', 'v1.2.3'), '/version', /semantic-version/],
      'a schema of the future': [
        changed('schema_version: 3', 'schema_version: 4'),
        '/schema_version',
        /must be 1, 2 or 3/,
      ],
      'a range that is none': [
        changed('>=0.1.0, <2.0.0', 'newest'),
        '/compatibility/svc_version',
        /version-range/,
      ],
      'an empty range': [changed('>=0.1.0, <2.0.0', ''), '/compatibility/svc_version', /fewer|version-range/],
      'no half': [MANIFEST.slice(0, MANIFEST.indexOf('agent:')), '', /half/],
      'a capability that nobody knows': [
        changed('telemetry.read', 'telemetry.rule'),
        '/agent/permissions/0',
        /no capability/,
      ],
      'a capability of the other half': [
        changed('telemetry.read', 'ui.slot.fc-tab'),
        '/agent/permissions/0',
        /no capability/,
      ],
      ...Object.fromEntries(
        Object.keys(NOT_OFFERED).map((id) => [
          `${id}, which is not offered`,
          [changed('telemetry.read', id), '/agent/permissions/0', /^[a-z_.]+ is not offered: [A-Za-z].{20}/],
        ]),
      ),
      'a capability named like a member of every object': [
        changed('telemetry.read', 'toString'),
        '/agent/permissions/0',
        /no capability/,
      ],
      'a permission twice': [
        changed('[telemetry.read]', '[telemetry.read, {id: telemetry.read}]'),
        '/agent/permissions/1',
        /twice/,
      ],
      'running inside the node': [agent('  isolation: inprocess\n'), '/agent/isolation', /not offered/],
      'a heavy class': [agent('  resources: {class: heavy}\n'), '/agent/resources/class', /not offered/],
      'too much memory': [agent('  resources: {max_ram_mb: 8192}\n'), '/agent/resources/max_ram_mb', /4096/],
      'an entry point that leads out': [
        changed('agent/main.mjs', 'agent/../../x.mjs'),
        '/agent/entrypoint',
        /path/,
      ],
      'an entry point of Node that is TypeScript': [
        changed('main.mjs', 'main.ts'),
        '/agent/entrypoint',
        /\.mjs/,
      ],
      'an entry point of Python that is odd': [
        changed(
          'runtime: node\n  entrypoint: agent/main.mjs',
          'runtime: python\n  entrypoint: "os:system(1)"',
        ),
        '/agent/entrypoint',
        /module:Class/,
      ],
      'a program that is not named': [
        changed('runtime: node\n  entrypoint: agent/main.mjs', 'runtime: binary\n  entrypoint: bin:demo'),
        '/agent/entrypoint',
        /agent\.binaries/,
      ],
      'a page inside the page of the node': [
        agent('gcs: {entrypoint: gcs/a.js, isolation: inline}\n'),
        '/gcs/isolation',
        /iframe/,
      ],
      'a program without the permission': [
        agent('  subprocess_spawn: [tool]\n'),
        '/agent/subprocess_spawn',
        /process\.spawn/,
      ],
      'a program that leads out': [
        agent('  subprocess_spawn: [../tool]\n'),
        '/agent/subprocess_spawn/0',
        /right form/,
      ],
      'foreign binaries without their licence': [
        agent('  contains_vendor_binary: true\n'),
        '/agent/vendor_attribution',
        /exactly/,
      ],
      'a permission for programs of which there is none': [
        changed('telemetry.read', 'process.spawn'),
        '/agent/permissions',
        /subprocess_spawn/,
      ],
      'a port without the permission': [
        agent('  listen_ports: [8000]\n'),
        '/agent/listen_ports',
        /network\.listen and network\.outbound/,
      ],
      'the permission for a port without a port': [
        changed('telemetry.read', 'network.listen, network.outbound'),
        '/agent/permissions',
        /listen_ports/,
      ],
      'a service, which nobody would start': [
        agent('  contributes: {services: [{name: s, command: s}]}\n'),
        '/agent/contributes/services',
        /entrypoint/,
      ],
      'a driver, of which nobody would know': [
        agent('  contributes: {drivers: [{id: x}]}\n'),
        '/agent/contributes/drivers',
        /entrypoint/,
      ],
      'a model for the detector': [
        agent('  contributes: {vision: {models: [{id: x}]}}\n'),
        '/agent/contributes/vision',
        /vision\.detection\.publish/,
      ],
      'a file to download': [agent('  payloads: [{path: a}]\n'), '/agent/payloads', /archive/],
      'a component without its permission': [
        agent('  mavlink_components: [{component_id: 154, component_kind: gimbal}]\n'),
        '/agent/mavlink_components/0',
        /mavlink\.component\.gimbal/,
      ],
      'the permission for a component that it does not declare': [
        changed('telemetry.read', 'mavlink.component.gimbal'),
        '/agent/permissions',
        /mavlink_components/,
      ],
      'the component of the autopilot': [
        agent('  mavlink_components: [{component_id: 1, component_kind: generic}]\n'),
        '/agent/mavlink_components/0/component_id',
        /autopilot/,
      ],
      'a tool twice': [
        agent('  contributes: {tools: [{name: a}, {name: a}]}\n'),
        '/agent/contributes/tools/1',
        /twice/,
      ],
      'a tool whose name the connector cannot show': [
        agent('  contributes: {tools: [{name: "a b"}]}\n'),
        '/agent/contributes/tools/0/name',
        /right form/,
      ],
      'a tool that programs would take for something else': [
        agent('  contributes: {tools: [{name: __proto__}]}\n'),
        '/agent/contributes/tools/0/name',
        /not allowed/,
      ],
      'a title with a terminal escape': [
        agent('  contributes: {tools: [{name: a, title: "A\\e[2JB"}]}\n'),
        '/agent/contributes/tools/0/title',
        /control a terminal/,
      ],
      'a description with a null byte': [
        agent('  contributes: {tools: [{name: a, description: "A\\0B"}]}\n'),
        '/agent/contributes/tools/0/description',
        /control a terminal/,
      ],
      'a description that is turned round': [
        agent('  contributes: {prompts: [{name: a, description: "A\\u202eB"}]}\n'),
        '/agent/contributes/prompts/0/description',
        /direction of text/,
      ],
      'a hidden word deep in the schema of a tool': [
        agent(
          '  contributes: {tools: [{name: a, inputSchema: {properties: {x: {description: "A\\u200bB"}}}}]}\n',
        ),
        '/agent/contributes/tools/0/inputSchema/properties/x/description',
        /cannot be seen/,
      ],
      'a schema of a tool that is fetched from elsewhere': [
        agent(
          '  contributes: {tools: [{name: a, inputSchema: {properties: {x: {$ref: "https://evil.example/s.json"}}}}]}\n',
        ),
        '/agent/contributes/tools/0/inputSchema/properties/x/$ref',
        /leads out/,
      ],
      'a name that is turned round': [changed('name: Demo', 'name: "De\\u202emo"'), '/name', /one line/],
      'no profile': [agent('  target_profiles: []\n'), '/agent/target_profiles', /must not be empty/],
      'documentation over plain HTTP': [
        `${MANIFEST}documentation_url: http://x\n`,
        '/documentation_url',
        /right form/,
      ],
    };
    for (const [name, [text, path, message]] of Object.entries(cases))
      it(name, () => {
        const { manifest, violations } = parseManifest(text);
        expect(manifest).to.equal(null);
        const found = violations.find(
          (violation) => violation.path === path && message.test(violation.message),
        );
        expect(found, JSON.stringify(violations)).to.not.equal(undefined);
      });
  });

  it('names everything that is wrong at once', () => {
    const { violations } = parseManifest(
      'id: X\nversion: one\ncompatibility: {}\nagent: {entrypoint: /x, runtime: node, permissions: [no.such]}\n',
    );
    expect(violations.map(({ path }) => path)).to.have.members([
      '/id',
      '/version',
      '/compatibility',
      '/agent/entrypoint',
      '/agent/permissions/0',
    ]);
  });

  it('of 40 000 keys is read in time that grows with their number', () => {
    const keys = Array.from({ length: 40_000 }, (_, index) => `k${index.toString(36)}: `).join('\n');
    const before = performance.now();
    expect(parseManifest(keys).manifest).to.equal(null);
    expect(performance.now() - before).to.be.below(10_000); // squared it would be minutes
  });

  it('with older names is read, with a warning for each', () => {
    const { manifest, warnings } = parseManifest(
      changed('svc_version', 'ados_version')
        .replace('runtime: node', 'runtime: rust')
        .concat('  target_profiles: [ground_station, drone, ground-station]\nunknown: 1\n'),
    );
    expect(manifest?.compatibility.svc_version).to.equal('>=0.1.0, <2.0.0');
    expect(manifest?.agent?.runtime).to.equal('binary');
    expect(manifest?.agent?.target_profiles).to.deep.equal(['ground-station', 'drone']);
    expect(warnings.join('\n'))
      .to.match(/ados_version is an older name/)
      .and.match(/unknown is not known/);
  });

  it('below schema 3 has its tools ignored in both halves, and says so', () => {
    const text = changed('schema_version: 3', 'schema_version: 2').concat(
      '  contributes: {tools: [{name: a}]}\ngcs: {entrypoint: gcs/a.js, contributes: {prompts: [{name: p}], panels: [{id: x}]}}\n',
    );
    const { manifest, warnings } = parseManifest(text);
    expect(manifest?.agent?.contributes.tools).to.deep.equal([]);
    expect(manifest?.gcs?.contributes).to.deep.equal({
      tools: [],
      resources: [],
      prompts: [],
      ui: { panels: [{ id: 'x' }] },
    });
    expect(warnings.filter((warning) => warning.includes('schema_version 3'))).to.have.length(2);
    expect(
      read(text.replace('schema_version: 2', 'schema_version: 3')).agent?.contributes.tools,
    ).to.have.length(1);
  });

  it('may have words in several lines, and references within a schema', () => {
    const { violations } = parseManifest(
      `${MANIFEST}  contributes: {tools: [{name: a, title: Änderung, description: "one\\ntwo\\tthree", inputSchema: {$defs: {x: {type: string}}, properties: {x: {$ref: "#/$defs/x"}}}}]}\n`,
    );
    expect(violations).to.deep.equal([]);
  });

  it('says which versions of the node it fits, whatever follows a hyphen', () => {
    const fits = (range: string, version: string) =>
      svcVersionFits(read(changed('>=0.1.0, <2.0.0', range)), version);
    expect(fits('>=0.1.0, <2.0.0', '1.9.9')).to.equal(true);
    expect(fits('>=0.1.0, <2.0.0', '2.0.0')).to.equal(false);
    expect(fits('>=1.0.0', '1.0.0-rc.1')).to.equal(true);
    expect(fits('==1.2.3', '1.2.3')).to.equal(true);
    expect(fits('1.2.3', '1.2.4')).to.equal(false);
    expect(fits('>=1.0.0', 'latest')).to.equal(false);
  });

  it('asks for permissions that a person can judge', () => {
    const manifest = read(
      changed('[telemetry.read]', '[telemetry.read, {id: mavlink.write, required: false}]').concat(
        'gcs: {entrypoint: gcs/a.js, permissions: [command.send, no.such]}\n',
      ),
    );
    expect(
      requestedPermissions(manifest).map(({ id, halves, risk, required, available }) => [
        id,
        halves.join(),
        risk,
        required,
        available,
      ]),
    ).to.deep.equal([
      ['telemetry.read', 'agent', 'low', true, true],
      ['mavlink.write', 'agent', 'high', false, true],
      ['command.send', 'gcs', 'high', true, true],
      ['no.such', 'gcs', 'high', true, false],
    ]);
  });

  it('shows a permission once, also if both halves ask for it', () => {
    const manifest = read(
      changed('[telemetry.read]', '[{id: mission.read, required: false}, mcp.expose]').concat(
        'gcs: {entrypoint: gcs/a.js, permissions: [mission.read]}\n',
      ),
    );
    expect(
      requestedPermissions(manifest).map(({ id, halves, required }) => [id, halves, required]),
    ).to.deep.equal([
      ['mission.read', ['agent', 'gcs'], true],
      ['mcp.expose', ['agent'], true],
    ]);
  });

  it('that can do without what this node does not offer is taken, and says so', () => {
    const { manifest, warnings } = parseManifest(
      changed('[telemetry.read]', '[{id: msp.read, required: false}]'),
    );
    expect(warnings).to.deep.equal([
      'msp.read is not offered, and cannot be granted: this node speaks MAVLink with its vehicle, not MSP.',
    ]);
    expect(manifest === null ? [] : requestedPermissions(manifest)).to.deep.include({
      id: 'msp.read',
      required: false,
      halves: ['agent'],
      available: false,
      label: 'is not offered by this node, and cannot be granted',
      category: 'plugin',
      risk: 'high',
      risk_reason: 'Nobody is granted it: this node speaks MAVLink with its vehicle, not MSP.',
    });
  });

  it('that asks to command the vehicle by the older name is read, with a warning', () => {
    const { manifest, warnings } = parseManifest(changed('telemetry.read', 'vehicle.command'));
    expect(manifest?.agent?.permissions.map(({ id }) => id)).to.deep.equal(['command.send']);
    expect(warnings.join()).to.include('write command.send');
  });
});

describe('the capabilities of extensions', () => {
  it('a part of the telemetry is one by itself, read by whoever was granted it, its whole, or all', () => {
    expect(capabilityOf('telemetry.subscribe.battery', 'gcs')).to.include({ risk: 'low', class: 'read' });
    expect(toolClass('read', ['telemetry.subscribe.battery'])).to.equal('read');
    for (const id of [
      'telemetry.subscribe.',
      'telemetry.subscribe..a',
      'telemetry.subscribe.a b',
      'telemetry.subscribes',
    ])
      expect(capabilityOf(id, 'gcs'), id).to.equal(null);
    expect(capabilityOf('telemetry.subscribe.battery', 'agent')).to.equal(null);
    for (const [part, grants, may] of [
      ['battery', ['telemetry.subscribe.battery'], true],
      ['battery', ['telemetry.subscribe'], true],
      ['mavlink.STATUSTEXT', ['telemetry.subscribe.mavlink'], true],
      ['mavlink', ['telemetry.subscribe.mavlink.STATUSTEXT'], false],
      ['mavlinks', ['telemetry.subscribe.mavlink'], false],
      ['battery', ['telemetry.subscribe.'], false],
      ['battery', ['telemetry.read', 'telemetry.subscribe.gps'], false],
    ] as const)
      expect(mayReadPart(part, grants), `${part} by ${grants.join()}`).to.equal(may);
  });
  it('have a class that fits their risk: what is high or critical is never a read', () => {
    for (const [id, capability] of Object.entries(CAPABILITIES)) {
      if (capability.risk === 'high' || capability.risk === 'critical')
        expect(['flight', 'admin'], id).to.include(capability.class);
      expect(riskReason(capability), id).to.match(/^[A-Z].*\.$/);
      expect(capability.label, id).to.match(/^[a-z]/);
    }
  });

  it('stand in docs/extensions.md as they are', async () => {
    const text = await readFile(join(ROOT, 'docs/extensions.md'), 'utf8');
    const rows = [
      ...text.matchAll(
        /^\| `([a-z0-9_.-]+)` \| ([a-z, ]+) \| (low|medium|high|critical) \| (\w+) \| (.*) \|$/gm,
      ),
    ];
    expect(rows.map(([, ...row]) => row)).to.deep.equal(
      Object.entries(CAPABILITIES).map(([id, { halves, risk, class: scope, label }]) => [
        id,
        halves.join(', '),
        risk,
        scope,
        label,
      ]),
    );
  });

  it('are what methods of the socket need, by ids of the half that has a socket', () => {
    for (const [method, id] of Object.entries(METHOD_CAPABILITIES))
      if (id !== null) expect(capabilityOf(id, 'agent'), method).to.not.equal(null);
  });

  it('and what is not offered are two things', () => {
    for (const id of Object.keys(NOT_OFFERED)) expect(isCapability(id), id).to.equal(false);
  });

  it('each have a method in docs/extensions.md, where they have one', async () => {
    const text = await readFile(join(ROOT, 'docs/extensions.md'), 'utf8');
    for (const method of Object.keys(METHOD_CAPABILITIES)) expect(text, method).to.include(`\`${method} {`);
  });

  it('raise the class of a tool, and nothing lowers it', () => {
    expect(toolClass('read', [])).to.equal('read');
    expect(toolClass('read', ['telemetry.read', 'recording.write'])).to.equal('safe_write');
    expect(toolClass('read', ['mavlink.write'])).to.equal('flight');
    expect(toolClass('flight_action', [])).to.equal('flight');
    expect(toolClass('destructive', ['mavlink.write'])).to.equal('destructive');
    for (const declared of [undefined, null, 'secret_read', 'none', 7, 'toString'])
      expect(toolClass(declared, []), String(declared)).to.equal('admin');
    expect(toolClass('read', ['no.such'])).to.equal('admin');
    for (const declared of SCOPES)
      for (const [id, capability] of Object.entries(CAPABILITIES)) {
        const result = toolClass(declared, [id]);
        expect(higher(result, capability.class), `${declared} ${id}`).to.equal(result);
      }
  });

  const PUBLISH = new Set(['event.publish']);
  for (const [topic, without, granted] of [
    ['plugin.org.demo.fence', true, true],
    ['plugin.org.demo.', false, false],
    ['plugin.org.demo.a.b', false, false],
    ['plugin.org.demox.fence', false, false],
    ['plugin.other.app.fence', false, false],
    ['vehicle.armed', false, false],
    ['mavlink.x', false, false],
    ['safety.stop', false, false],
    ['peripheral.added', false, false],
    ['plugin.*', false, false],
    ['weather.wind', false, true],
    ['weather', false, false],
    ['', false, false],
    [`weather.${'x'.repeat(300)}`, false, false],
  ] as const)
    it(`${JSON.stringify(topic.slice(0, 30))} may be published: ${without} alone, ${granted} with the grant`, () => {
      expect(mayPublish('org.demo', topic, new Set())).to.equal(without);
      expect(mayPublish('org.demo', topic, PUBLISH)).to.equal(granted);
    });

  it('let an extension hear its own events and those of the node, with the grant only', () => {
    const granted = new Set(['event.subscribe']);
    for (const topic of [
      'plugin.org.demo.fence',
      'vehicle.armed',
      'mission.completed',
      'agent.ready',
      'peripheral.added',
    ])
      expect(
        [maySubscribe('org.demo', topic, granted), maySubscribe('org.demo', topic, new Set())],
        topic,
      ).to.deep.equal([true, false]);
    for (const topic of ['plugin.other.app.x', 'vehicle.anything', 'safety.stop', '*'])
      expect(maySubscribe('org.demo', topic, granted), topic).to.equal(false);
  });
});
