import { parseJson } from '../../shared/member.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { asRecord } from '../rows.ts';
import { name, reading, writing } from './parts.ts';
import type { Tool } from './tool.ts';

/** Config, services, extensions, pairing, radio, network, system. */

const ID: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._~-]*$',
  description: 'as plugins_list has it',
};

export const nodeTools: readonly Tool[] = [
  reading(
    { name: 'config_get', title: 'Configuration', description: 'The whole configuration, secrets masked.' },
    'config.get',
    { toolset: 'setup' },
  ),
  writing(
    {
      name: 'config_set',
      title: 'Set a config key',
      description:
        'Writes one key, as agent.name (what it is called). Keys that limit others are a person’s to write.',
    },
    ['config.put'],
    {
      input: {
        properties: {
          key: { type: 'string', minLength: 1, maxLength: 256, description: 'as in config_get, with dots' },
          value: { type: 'string', maxLength: 4096, description: 'a text, or JSON' },
        },
        required: ['key', 'value'],
      },
      body: ({ key, value }) => ({ key, value }),
    },
    { toolset: 'setup', idempotent: true, phrase: 'CONFIG.SET ON THIS NODE' },
  ),
  writing(
    {
      name: 'services_restart',
      title: 'Restart a service',
      description: 'Restarts one process of the node; one of the link to the vehicle counts as flight.',
    },
    ['services.name.restart.post'],
    {
      input: {
        properties: { name: { ...name, description: 'as status_get has it, part services' } },
        required: ['name'],
      },
      params: ({ name: unit }) => ({ name: String(unit) }),
    },
    { toolset: 'setup' },
  ),
  writing(
    {
      name: 'admin_agent_restart_supervisor',
      title: 'Restart the node software',
      description: 'Restarts all of the node, also its link to the vehicle.',
    },
    ['system.restart-supervisor.post'],
    {},
    { toolset: 'setup', least: 'flight' },
  ),
  writing(
    { name: 'system_reboot', title: 'Reboot', description: 'Reboots the computer.' },
    ['system.reboot.post'],
    {},
    { toolset: 'setup', phrase: 'REBOOT THIS NODE' },
  ),
  writing(
    {
      name: 'system_shutdown',
      title: 'Shut down',
      description: 'Powers the computer off; a person has to start it there.',
    },
    ['system.shutdown.post'],
    {},
    { toolset: 'setup', phrase: 'SHUTDOWN THIS NODE' },
  ),
  {
    name: 'plugins_list',
    title: 'Extensions',
    description: 'Installed extensions; with `id` one of them and its manifest.',
    toolset: 'setup',
    routes: ['plugins.get', 'plugins.id.get'],
    input: { properties: { id: ID } },
    idempotent: true,
    run: async ({ ask, args: { id } }) => ({
      value: asRecord(
        await (typeof id === 'string' ? ask('plugins.id.get', { params: { id } }) : ask('plugins.get')),
      ),
    }),
  },
  writing(
    {
      name: 'plugins_install',
      title: 'Install an extension',
      description: 'From an address that the node fetches.',
    },
    ['plugins.install-from-url.post'],
    {
      input: {
        properties: {
          url: { type: 'string', maxLength: 2048, pattern: '^https?://', description: 'of the .svcplug' },
          expected_sha256: { type: 'string', pattern: '^[0-9a-fA-F]{64}$', description: 'of the file, hex' },
        },
        required: ['url'],
      },
      body: ({ url, expected_sha256: hash }) => ({
        url,
        ...(hash === undefined ? {} : { expected_sha256: hash }),
      }),
    },
    { toolset: 'setup', openWorld: true },
  ),
  writing(
    {
      name: 'plugins_enable',
      title: 'Extension on or off',
      description: 'Makes an installed extension run, or stop.',
    },
    ['plugins.id.enable.post', 'plugins.id.disable.post'],
    {
      input: {
        properties: { id: ID, on: { type: 'boolean', default: true, description: 'false: stop it' } },
        required: ['id'],
      },
      route: ({ on }) => (on === false ? 'plugins.id.disable.post' : 'plugins.id.enable.post'),
      params: ({ id }) => ({ id: String(id) }),
    },
    { toolset: 'setup', idempotent: true, destroys: true },
  ),
  writing(
    { name: 'plugins_remove', title: 'Remove an extension', description: 'Uninstalls it.' },
    ['plugins.id.delete'],
    {
      input: {
        properties: { id: ID, keep_data: { type: 'boolean', default: false, description: 'its files stay' } },
        required: ['id'],
      },
      params: ({ id }) => ({ id: String(id) }),
      query: ({ keep_data: keep }) => ({ keep_data: keep === true }),
    },
    { toolset: 'setup', phrase: 'PLUGINS.REMOVE ON THIS NODE' },
  ),
  writing(
    {
      name: 'plugins_config',
      title: 'Set an extension’s key',
      description: 'Writes one config key of an extension.',
    },
    ['plugins.id.config.put'],
    {
      input: {
        properties: {
          id: ID,
          key: { ...name, description: 'as its manifest has it' },
          value: { type: 'string', maxLength: 65_536, description: 'as JSON' },
          scope: { type: 'string', enum: ['drone', 'global'], description: 'this drone or all' },
        },
        required: ['id', 'key', 'value'],
      },
      params: ({ id }) => ({ id: String(id) }),
      body: ({ key, value, scope }) => ({
        key,
        value: jsonOf(String(value)),
        ...(scope === undefined ? {} : { scope }),
      }),
    },
    { toolset: 'setup', idempotent: true, destroys: true },
  ),
  reading(
    {
      name: 'admin_pairing_generate_code',
      title: 'Pairing code',
      description: 'The code with which the node can be claimed.',
    },
    'pairing.code.get',
    { toolset: 'setup', least: 'admin' },
  ),
  writing(
    {
      name: 'admin_pairing_claim',
      title: 'Claim the node',
      description: 'Pairs an unpaired node. The answer holds its key, so the caller needs secret_read too.',
    },
    ['pairing.claim.post'],
    {
      input: {
        properties: {
          user_id: { type: 'string', minLength: 1, maxLength: 128, description: 'whose it becomes' },
        },
        required: ['user_id'],
      },
      body: ({ user_id: user }) => ({ user_id: user }),
    },
    { toolset: 'setup', alsoNeeds: 'secret_read' },
  ),
  writing(
    {
      name: 'admin_pairing_unpair',
      title: 'Unpair',
      description: 'Forgets the owner; every key, token and session ends.',
    },
    ['pairing.unpair.post'],
    {},
    { toolset: 'setup', phrase: 'UNPAIR THIS NODE' },
  ),
  writing(
    {
      name: 'admin_wfb_channel',
      title: 'Radio channel',
      description: 'Moves the video and telemetry radio to another channel.',
    },
    ['wfb.channel.post'],
    {
      input: {
        properties: { channel: { type: 'integer', minimum: 1, maximum: 233, description: 'of Wi-Fi' } },
        required: ['channel'],
      },
      body: ({ channel }) => ({ channel }),
    },
    { toolset: 'setup', idempotent: true, destroys: true },
  ),
  writing(
    { name: 'admin_wfb_tx_power', title: 'Radio power', description: 'Sets the transmit power.' },
    ['wfb.tx-power.put'],
    {
      input: {
        properties: { power_dbm: { type: 'integer', minimum: 1, maximum: 33, description: 'dBm' } },
        required: ['power_dbm'],
      },
      body: ({ power_dbm: power }) => ({ tx_power_dbm: power }),
    },
    { toolset: 'setup', idempotent: true, destroys: true },
  ),
  writing(
    {
      name: 'admin_network_wifi_join',
      title: 'Join a Wi-Fi',
      description: 'Connects the node to a Wi-Fi network.',
    },
    ['network.client.join.put'],
    {
      input: {
        properties: {
          ssid: { type: 'string', minLength: 1, maxLength: 32, description: 'its name' },
          passphrase: { type: 'string', minLength: 8, maxLength: 63, description: 'of WPA; none: open' },
        },
        required: ['ssid'],
      },
      body: ({ ssid, passphrase }) => ({ ssid, ...(passphrase === undefined ? {} : { passphrase }) }),
    },
    { toolset: 'setup', destroys: true, openWorld: true },
  ),
  writing(
    {
      name: 'admin_network_wifi_leave',
      title: 'Leave the Wi-Fi',
      description: 'Disconnects the node from its Wi-Fi network.',
    },
    ['network.client.delete'],
    {},
    { toolset: 'setup', destroys: true },
  ),
];

/** A text that is not JSON stands for itself. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
