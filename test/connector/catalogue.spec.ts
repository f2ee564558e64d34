import { expect } from 'chai';
import { rowOf } from '../../connector/rows.ts';
import { compileCatalogue } from '../../connector/tools/catalogue.ts';
import { checked, listed } from '../../connector/tools/listing.ts';
import { classOf, classOfCall, scopesOf, type Tool } from '../../connector/tools/tool.ts';
import type { Scope } from '../../shared/auth/scopes.ts';
import { higher } from '../../shared/auth/scopes.ts';
import { createAjv } from '../../shared/schemas/validator.ts';

/** The tools that a client may rely on. */
const WANTED =
  'admin_agent_restart_supervisor admin_network_wifi_join admin_network_wifi_leave admin_pairing_claim admin_pairing_generate_code admin_pairing_unpair admin_wfb_channel admin_wfb_tx_power audit_query autopilot_reboot config_get config_set fleet_list_nodes flight_arm flight_disarm flight_goto flight_land flight_mode flight_rtl flight_stop flight_takeoff logs_aggregate logs_query mission_pause mission_resume mission_start params_get params_optimize params_read_all params_set plugins_config plugins_enable plugins_install plugins_list plugins_remove services_restart status_get system_reboot system_shutdown telemetry_snapshot tools_show video_live_url video_record video_snapshot vision_designate vision_detections';

describe('the catalogue of tools', () => {
  const tools = compileCatalogue();

  it('has every tool that a client may rely on', () => {
    for (const name of WANTED.split(' ')) expect(tools.has(name), name).to.equal(true);
  });

  it('its schemas compile, inputs are strict, names are MCP’s', () => {
    const ajv = createAjv({ checkSchemas: true });
    for (const tool of tools.values()) {
      // What Claude Desktop, Codex and Copilot CLI accept.
      expect(tool.name).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
      const input = checked(tool);
      expect(() => ajv.compile(input as object), tool.name).to.not.throw();
      expect(input['additionalProperties'], tool.name).to.equal(false);
      for (const name of Object.keys(tool.input.properties))
        expect(name).to.not.be.oneOf(['node', 'confirm', 'confirm_id']);
    }
  });

  it('a property has one JSON type, at every depth', () => {
    const check = (schema: unknown, at: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { type, properties = {}, items, ...rest } = schema as Record<string, unknown>;
      expect(type, at).to.be.a('string');
      expect(rest, at).to.not.have.any.keys('anyOf', 'oneOf', 'allOf', 'not', 'const');
      check(items, `${at}[]`);
      for (const [name, each] of Object.entries(properties as object)) check(each, `${at}.${name}`);
    };
    for (const tool of tools.values()) check(listed(tool, true).inputSchema, tool.name);
  });

  describe('what a client reads of it', () => {
    const bytesOf = (wanted: (tool: Tool) => boolean): number =>
      Buffer.byteLength(
        JSON.stringify(
          [...tools.values()]
            .filter((tool) => tool.ofFleet !== true && wanted(tool))
            .map((tool) => listed(tool, false)),
        ),
      );
    const usual = ({ toolset }: Tool): boolean => toolset === undefined;
    const within =
      (...scopes: readonly Scope[]) =>
      (tool: Tool): boolean =>
        scopesOf(tool).every((scope) => scopes.includes(scope));

    for (const [who, most, wanted] of [
      ['who only reads', 10_000, (tool: Tool) => usual(tool) && within('read')(tool)],
      ['who flies', 16_000, (tool: Tool) => usual(tool) && within('read', 'flight')(tool)],
      ['everybody with every family', 35_000, () => true],
    ] as const) {
      it(`has at most ${most} bytes for ${who}`, () => {
        expect(bytesOf(wanted)).to.be.within(most / 4, most);
      });
    }

    for (const tool of tools.values()) {
      it(`${tool.name}: a title, each argument with words and every hint, true or false`, () => {
        const { title, inputSchema, annotations } = listed(tool, true);
        expect(title).to.be.a('string').and.have.length.above(2);
        for (const [name, each] of Object.entries(inputSchema['properties'] as object))
          expect((each as { description?: string }).description, name).to.be.a('string');
        for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'])
          expect(annotations[hint], hint).to.be.a('boolean');
      });
    }
  });

  it('asks for the node only where there are several, and there every tool about one node requires it', () => {
    const everywhere = ['fleet_list_nodes', 'fleet_flights', 'audit_query', 'tools_show'];
    for (const tool of tools.values()) {
      expect(listed(tool, false).inputSchema['properties'], tool.name).to.not.have.property('node');
      const { properties, required = [] } = listed(tool, true).inputSchema;
      const isAboutOne = !everywhere.includes(tool.name);
      expect(Object.keys(properties as object).includes('node'), tool.name).to.equal(
        isAboutOne || tool.name === 'audit_query',
      );
      expect((required as readonly string[]).includes('node'), tool.name).to.equal(isAboutOne);
    }
  });

  it('confirm is only where the gate looks at it, and the words are in the description', () => {
    for (const tool of tools.values()) {
      const { inputSchema, description } = listed(tool, false);
      const scope = classOf(tool);
      const properties = inputSchema['properties'] as Record<string, { type: string }>;
      expect('confirm' in properties, tool.name).to.equal(tool.phrase !== undefined);
      expect(properties, 'a signed call is repeated as it was').to.not.have.property('confirm_id');
      if (scope === 'destructive') expect(tool.phrase, tool.name).to.be.a('string');
      if (tool.phrase !== undefined) {
        expect(description, tool.name).to.include(tool.phrase);
        expect(properties['confirm']?.type, tool.name).to.equal('string');
      }
    }
  });

  const hints: readonly [string, Record<string, boolean>][] = [
    ['status_get', { readOnlyHint: true, openWorldHint: false }],
    ['video_snapshot', { readOnlyHint: true, openWorldHint: true }],
    ['vision_detections', { readOnlyHint: true, openWorldHint: true }],
    ['vision_designate', { readOnlyHint: false, destructiveHint: false, openWorldHint: true }],
    ['video_record', { readOnlyHint: false, destructiveHint: false, openWorldHint: false }],
    ['plugins_install', { destructiveHint: false, openWorldHint: true }],
    ['config_set', { destructiveHint: true, idempotentHint: true, openWorldHint: false }],
    ['services_restart', { destructiveHint: true, openWorldHint: false }],
    ['system_reboot', { destructiveHint: true, openWorldHint: false }],
    ['flight_takeoff', { readOnlyHint: false, destructiveHint: true, openWorldHint: true }],
    ['wait_until', { readOnlyHint: true, openWorldHint: false }],
  ];
  for (const [name, wanted] of hints) {
    it(`${name} says what it may do: ${JSON.stringify(wanted)}`, () => {
      const tool = tools.get(name);
      expect(tool && listed(tool, false).annotations).to.include(wanted);
    });
  }

  it('no class is below that of the routes, whatever the arguments', () => {
    const samples: readonly Record<string, unknown>[] = [
      {},
      { name: 'FS_THR_ENABLE', key: 'security.api.cors_enabled' },
      { name: 'svc-link', key: 'agent.name' },
      { name: '', key: '' },
    ];
    for (const tool of tools.values()) {
      for (const args of samples) {
        const scope = classOfCall(tool, args);
        expect(higher(scope, classOf(tool)), tool.name).to.equal(scope);
      }
      for (const id of tool.routes) {
        const { scope } = rowOf(id);
        if (scope !== 'none' && scope !== 'inner')
          expect(higher(classOf(tool), scope), `${tool.name} ${id}`).to.equal(classOf(tool));
      }
    }
  });

  const escalations: readonly [string, Record<string, unknown>, Scope][] = [
    ['params_set', { name: 'LOG_BITMASK' }, 'admin'],
    ['params_set', { name: 'RTL_ALT' }, 'flight'],
    ['params_set', { name: 'FS_THR_ENABLE' }, 'destructive'],
    ['params_set', { name: 'arming_check' }, 'destructive'],
    ['mission_upload', { document: { items: [{ command: 16 }] } }, 'flight'],
    [
      'mission_upload',
      { document: { items: [{ command: 16 }, { command: 208, param1: 2 }] } },
      'destructive',
    ],
    ['params_set', { name: 'SERVO9_FUNCTION' }, 'flight'],
    ['params_set', { name: 'EK3_SRC1_POSXY' }, 'flight'],
    ['config_set', { key: 'agent.name' }, 'admin'],
    ['config_set', { key: 'security.pairing.require_code' }, 'destructive'],
    ['config_set', { key: 'mcp.token_accept_enabled' }, 'destructive'],
    ['config_set', { key: 'mavlink.endpoints' }, 'destructive'],
    ['config_set', { key: 'logging.store.max_age_days' }, 'destructive'],
    ['services_restart', { name: 'svc-residual' }, 'admin'],
    ['services_restart', { name: 'Link' }, 'flight'],
    ['services_restart', { name: 'svc_supervisor.service' }, 'flight'],
    ['flight_emergency_stop', {}, 'destructive'],
    ['admin_pairing_unpair', {}, 'destructive'],
    ['status_get', {}, 'read'],
    ['flight_check', {}, 'read'],
    ['wait_until', { altitude_above_m: 5 }, 'read'],
    ['flight_takeoff', { altitude_m: 5 }, 'flight'],
    ['video_snapshot', {}, 'read'],
    ['vision_detections', {}, 'read'],
    ['vision_designate', { track_id: 3 }, 'safe_write'],
  ];
  for (const [name, args, scope] of escalations) {
    it(`${name} ${JSON.stringify(args)} is ${scope}`, () => {
      const tool = tools.get(name);
      expect(tool && classOfCall(tool, args)).to.equal(scope);
    });
  }
});
