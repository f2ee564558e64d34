import { expect } from 'chai';
import { inputSchema } from '../../connector/calls.ts';
import { compileCatalogue } from '../../connector/tools/catalogue.ts';
import { classOf, classOfCall, rowOf } from '../../connector/tools/tool.ts';
import type { Scope } from '../../shared/auth/scopes.ts';
import { higher } from '../../shared/auth/scopes.ts';
import { createAjv } from '../../shared/schemas/validator.ts';

/** The tools that a client may rely on. */
const WANTED =
  'admin.agent.restart_supervisor admin.network.wifi_join admin.network.wifi_leave admin.node.rename admin.pairing.claim admin.pairing.generate_code admin.pairing.info admin.pairing.unpair admin.wfb.channel admin.wfb.tx_power audit.query audit.search config.get config.set fleet.list_nodes flight.arm flight.disarm flight.goto flight.land flight.mode flight.rtl flight.stop flight.takeoff logs.aggregate logs.query logs.tail mission.pause mission.resume mission.start params.diff_from_default params.explain params.get params.optimize params.read_all params.set plugins.config plugins.disable plugins.enable plugins.info plugins.install plugins.list plugins.remove services.list services.restart status.full status.get status.health status.ping status.system status.version system.reboot system.shutdown telemetry.snapshot video.live_url video.snapshot vision.status';

describe('the catalogue of tools', () => {
  const tools = compileCatalogue();

  it('has every tool that a client may rely on', () => {
    for (const name of WANTED.split(' ')) expect(tools.has(name), name).to.equal(true);
  });

  it('its schemas compile, inputs are strict, names are MCP’s', () => {
    const ajv = createAjv({ checkSchemas: true });
    for (const tool of tools.values()) {
      expect(tool.name).to.match(/^[A-Za-z0-9._-]{1,128}$/);
      const input = inputSchema(tool);
      expect(() => ajv.compile(input as object), tool.name).to.not.throw();
      expect(() => ajv.compile(tool.output as object), tool.name).to.not.throw();
      expect(input['additionalProperties'], tool.name).to.equal(false);
      expect(tool.output['type'], tool.name).to.equal('object');
      for (const name of Object.keys(tool.input.properties))
        expect(name).to.not.be.oneOf(['node', 'confirm', 'confirm_id']);
    }
  });

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
    ['params.set', { name: 'RTL_ALT' }, 'admin'],
    ['params.set', { name: 'FS_THR_ENABLE' }, 'flight'],
    ['params.set', { name: 'arming_check' }, 'flight'],
    ['params.set', { name: 'SERVO9_FUNCTION' }, 'flight'],
    ['params.set', { name: 'EK3_SRC1_POSXY' }, 'flight'],
    ['config.set', { key: 'agent.name' }, 'admin'],
    ['config.set', { key: 'security.pairing.require_code' }, 'destructive'],
    ['config.set', { key: 'mcp.token_accept_enabled' }, 'destructive'],
    ['config.set', { key: 'mavlink.endpoints' }, 'destructive'],
    ['config.set', { key: 'logging.store.max_age_days' }, 'destructive'],
    ['services.restart', { name: 'svc-residual' }, 'admin'],
    ['services.restart', { name: 'Link' }, 'flight'],
    ['services.restart', { name: 'svc_supervisor.service' }, 'flight'],
    ['flight.emergency_stop', {}, 'destructive'],
    ['admin.pairing.unpair', {}, 'destructive'],
    ['status.get', {}, 'read'],
    ['video.snapshot', {}, 'read'],
  ];
  for (const [name, args, scope] of escalations) {
    it(`${name} ${JSON.stringify(args)} is ${scope}`, () => {
      const tool = tools.get(name);
      expect(tool && classOfCall(tool, args)).to.equal(scope);
    });
  }
});
