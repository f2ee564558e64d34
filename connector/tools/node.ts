import { parseJson, recordOf } from '../../shared/member.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { Denial } from '../denial.ts';
import { name, reading, writing } from './parts.ts';
import { answerOf, type Tool } from './tool.ts';

/** Config, services, extensions, pairing, radio, network, system. */

const id = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._~-]*$',
} as const;

export const nodeTools: readonly Tool[] = [
  reading(
    { name: 'config_get', title: 'Configuration', description: 'The whole configuration, secrets masked.' },
    'config.get',
  ),
  writing(
    {
      name: 'config_set',
      title: 'Set a config key',
      description: 'Writes one key. Keys that limit others are a person’s to write.',
    },
    'config.put',
    {
      input: {
        properties: {
          key: { type: 'string', minLength: 1, maxLength: 256, description: 'for example agent.name' },
          value: { type: 'string', maxLength: 4096 },
        },
        required: ['key', 'value'],
      },
      body: ({ key, value }) => ({ key, value }),
    },
    { idempotent: true, phrase: 'CONFIG.SET ON THIS NODE' },
  ),
  writing(
    {
      name: 'services_restart',
      title: 'Restart a service',
      description: 'Restarts one process of the node; a process of the link to the vehicle counts as flight.',
    },
    'services.name.restart.post',
    {
      input: { properties: { name }, required: ['name'] },
      params: ({ name: unit }) => ({ name: String(unit) }),
    },
  ),
  writing(
    {
      name: 'admin_agent_restart_supervisor',
      title: 'Restart the node software',
      description: 'Restarts all of the node, also its link to the vehicle.',
    },
    'system.restart-supervisor.post',
    {},
    { least: 'flight' },
  ),
  writing(
    {
      name: 'system_reboot',
      title: 'Reboot',
      description: 'Reboots the computer.',
    },
    'system.reboot.post',
    {},
    { phrase: 'REBOOT THIS NODE' },
  ),
  writing(
    {
      name: 'system_shutdown',
      title: 'Shut down',
      description: 'Powers the computer off; a person has to start it there.',
    },
    'system.shutdown.post',
    {},
    { phrase: 'SHUTDOWN THIS NODE' },
  ),
  reading(
    {
      name: 'peripherals_list',
      title: 'Peripherals',
      description: 'What is connected to the node, who uses it, what was unplugged.',
    },
    'peripherals.get',
    { toolset: 'payload' },
  ),
  reading({ name: 'plugins_list', title: 'Extensions', description: 'Installed extensions.' }, 'plugins.get'),
  reading(
    {
      name: 'plugins_info',
      title: 'One extension',
      description: 'One installed extension with its manifest.',
    },
    'plugins.id.get',
    {
      input: { properties: { id }, required: ['id'] },
      run: async ({ ask, args }) => ({
        value: await ask('plugins.id.get', { params: { id: String(args['id']) } }),
      }),
    },
  ),
  writing(
    {
      name: 'plugins_install',
      title: 'Install an extension',
      description: 'From an address that the node fetches.',
    },
    'plugins.install-from-url.post',
    {
      input: {
        properties: {
          url: { type: 'string', maxLength: 2048, pattern: '^https?://' },
          expected_sha256: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
        },
        required: ['url'],
      },
      body: ({ url, expected_sha256: hash }) => ({
        url,
        ...(hash === undefined ? {} : { expected_sha256: hash }),
      }),
    },
    { openWorld: true },
  ),
  ...(['enable', 'disable'] as const).map((verb) =>
    writing(
      {
        name: `plugins_${verb}`,
        title: `${verb === 'enable' ? 'Enable' : 'Disable'} an extension`,
        description: `Makes an installed extension ${verb === 'enable' ? 'run' : 'stop'}.`,
      },
      `plugins.id.${verb}.post`,
      { input: { properties: { id }, required: ['id'] }, params: (args) => ({ id: String(args['id']) }) },
      { idempotent: true, destroys: verb === 'disable' },
    ),
  ),
  writing(
    {
      name: 'plugins_remove',
      title: 'Remove an extension',
      description: 'Uninstalls it.',
    },
    'plugins.id.delete',
    {
      input: { properties: { id, keep_data: { type: 'boolean' } }, required: ['id'] },
      params: (args) => ({ id: String(args['id']) }),
      query: ({ keep_data: keep }) => ({ keep_data: keep === true }),
    },
    { phrase: 'PLUGINS.REMOVE ON THIS NODE' },
  ),
  writing(
    {
      name: 'plugins_config',
      title: 'Set an extension’s key',
      description: 'Writes one config key of an extension.',
    },
    'plugins.id.config.put',
    {
      input: {
        properties: {
          id,
          key: name,
          value: { type: 'string', maxLength: 65_536, description: 'as JSON' },
          scope: { type: 'string', enum: ['drone', 'global'] },
        },
        required: ['id', 'key', 'value'],
      },
      params: (args) => ({ id: String(args['id']) }),
      body: ({ key, value, scope }) => ({
        key,
        value: jsonOf(String(value)),
        ...(scope === undefined ? {} : { scope }),
      }),
    },
    { idempotent: true, destroys: true },
  ),
  writing(
    { name: 'admin_node_rename', title: 'Rename the node', description: 'Sets agent.name.' },
    'config.put',
    {
      input: { properties: { name: { type: 'string', minLength: 1, maxLength: 64 } }, required: ['name'] },
      body: ({ name: value }) => ({ key: 'agent.name', value }),
    },
    { idempotent: true, destroys: true },
  ),
  reading(
    { name: 'admin_pairing_info', title: 'Pairing', description: 'Whether the node is paired.' },
    'pairing.info.get',
  ),
  reading(
    {
      name: 'admin_pairing_generate_code',
      title: 'Pairing code',
      description: 'The code with which the node can be claimed.',
    },
    'pairing.code.get',
    { least: 'admin' },
  ),
  writing(
    {
      name: 'admin_pairing_claim',
      title: 'Claim the node',
      description: 'Pairs an unpaired node. The answer holds its key, so the caller needs secret_read too.',
    },
    'pairing.claim.post',
    {
      input: {
        properties: { user_id: { type: 'string', minLength: 1, maxLength: 128 } },
        required: ['user_id'],
      },
      body: ({ user_id: user }) => ({ user_id: user }),
    },
    { alsoNeeds: 'secret_read' },
  ),
  writing(
    {
      name: 'admin_pairing_unpair',
      title: 'Unpair',
      description: 'Forgets the owner; every key, token and session ends.',
    },
    'pairing.unpair.post',
    {},
    { phrase: 'UNPAIR THIS NODE' },
  ),
  reading(
    {
      name: 'radio_status',
      title: 'Radio',
      description: 'The radio: state, channel, signal, loss, cards, problem.',
    },
    'wfb.get',
  ),
  {
    name: 'network_status',
    title: 'Network',
    description: 'Interfaces, uplinks, hotspot, modems.',
    routes: ['network.get', 'network.modem.get'],
    input: { properties: {} },
    output: withModems(answerOf('network.get')),
    idempotent: true,
    run: async ({ ask }) => {
      const network = await ask('network.get');
      const modems = await ask('network.modem.get').then(
        (answer) => answer.modems,
        (error: unknown) => {
          if (error instanceof Denial) return undefined; // no ModemManager there, most of the time
          throw error;
        },
      );
      return { value: modems === undefined ? network : { ...network, modems } };
    },
  },
  reading(
    {
      name: 'ground_status',
      title: 'Ground station',
      description: 'Its drones, the active one, link, recording.',
    },
    'ground-station.status.get',
  ),
  writing(
    {
      name: 'admin_wfb_channel',
      title: 'Radio channel',
      description: 'Moves the video and telemetry radio to another channel.',
    },
    'wfb.channel.post',
    {
      input: {
        properties: { channel: { type: 'integer', minimum: 1, maximum: 233 } },
        required: ['channel'],
      },
      body: ({ channel }) => ({ channel }),
    },
    { idempotent: true, destroys: true },
  ),
  writing(
    { name: 'admin_wfb_tx_power', title: 'Radio power', description: 'Sets the transmit power, dBm.' },
    'wfb.tx-power.put',
    {
      input: {
        properties: { power_dbm: { type: 'integer', minimum: 1, maximum: 33 } },
        required: ['power_dbm'],
      },
      body: ({ power_dbm: power }) => ({ tx_power_dbm: power }),
    },
    { idempotent: true, destroys: true },
  ),
  writing(
    {
      name: 'admin_network_wifi_join',
      title: 'Join a Wi-Fi',
      description: 'Connects the node to a Wi-Fi network.',
    },
    'network.client.join.put',
    {
      input: {
        properties: {
          ssid: { type: 'string', minLength: 1, maxLength: 32 },
          passphrase: { type: 'string', minLength: 8, maxLength: 63 },
        },
        required: ['ssid'],
      },
      body: ({ ssid, passphrase }) => ({ ssid, ...(passphrase === undefined ? {} : { passphrase }) }),
    },
    { destroys: true, openWorld: true },
  ),
  writing(
    {
      name: 'admin_network_wifi_leave',
      title: 'Leave the Wi-Fi',
      description: 'Disconnects the node from its Wi-Fi network.',
    },
    'network.client.delete',
    {},
    { destroys: true },
  ),
];

/** Modems are a route of their own, and not worth a tool of their own. */
function withModems(network: JsonSchema): JsonSchema {
  const properties = recordOf(network['properties']);
  return { ...network, properties: { ...properties, modems: { type: 'array', items: { type: 'object' } } } };
}

/** A text that is not JSON stands for itself. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
