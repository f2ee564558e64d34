import { Args } from '@oclif/core';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { requestCommand, switchFlag } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';
import PluginDev from './plugin/dev.ts';
import PluginInit from './plugin/init.ts';
import PluginInstall from './plugin/install.ts';
import PluginKeygen from './plugin/keygen.ts';
import PluginLint from './plugin/lint.ts';
import PluginLogs from './plugin/logs.ts';
import PluginPack from './plugin/pack.ts';
import PluginPerms from './plugin/perms.ts';
import { signature } from './plugin/plugin-command.ts';
import { type Detail, PluginNodeCommand } from './plugin/plugin-node-command.ts';
import PluginSdk from './plugin/sdk.ts';
import PluginSign from './plugin/sign.ts';
import PluginTest from './plugin/test.ts';

const ID = Args.string({ required: true, description: 'its id' });
const FORCE = switchFlag('even while the vehicle is armed');

class PluginList extends PluginNodeCommand {
  static override summary = 'The extensions of the node.';
  static override examples = ['<%= config.bin %> plugin list'];

  async run(): Promise<Answer<'plugins.get'>['plugins']> {
    await this.parse(PluginList);
    const { plugins } = await this.call('GET /api/plugins');
    if (plugins.length === 0) this.log('No extensions installed.');
    const rows = plugins.map(
      ({ plugin_id: id, version, status, signer_id: signer, failure_reason: reason }) => [
        id,
        version,
        status,
        signature(signer),
        reason ?? '',
      ],
    );
    for (const line of tableOf(['ID', 'VERSION', 'STATUS', 'SIGNATURE', 'PROBLEM'], rows)) this.log(line);
    return plugins;
  }
}

class PluginInfo extends PluginNodeCommand {
  static override summary = 'One extension: what it is, what it may do, why it does not run.';
  static override examples = ['<%= config.bin %> plugin info org.example.thermal'];
  static override args = { id: Args.string({ required: true, description: 'its id' }) };

  async run(): Promise<Detail> {
    const { args } = await this.parse(PluginInfo);
    const detail = await this.detail(args.id);
    const { install, manifest } = detail;
    this.log(`${install.plugin_id} ${install.version}: ${install.status}`);
    if (manifest !== null) this.log(`${manifest.name}. ${manifest.description}`);
    this.log(`${signature(install.signer_id)}; sandbox ${install.sandbox ?? 'not started yet'}`);
    if (install.failure_reason !== null) this.log(`failed: ${install.failure_reason}`);
    for (const line of install.last_words) this.log(`  | ${line}`);
    if (manifest !== null && manifest.permissions.length > 0) {
      this.log('asks for:');
      this.showPermissions(manifest.permissions, new Set(detail.granted_capabilities));
    }
    for (const { name, class: scope } of manifest?.mcp.tools ?? []) this.log(`tool ${name} [${scope}]`);
    return detail;
  }
}

export default {
  'plugin:install': PluginInstall,
  'plugin:list': PluginList,
  'plugin:info': PluginInfo,
  'plugin:enable': requestCommand('POST /api/plugins/{id}/enable', {
    base: PluginNodeCommand,
    summary: 'Start an extension, now and with the node.',
    examples: ['plugin enable org.example.thermal'],
    args: { id: ID },
    flags: { force: FORCE },
    ask: ({ args: { id }, flags: { force } }) => ({ params: { id }, body: { force } }),
    lines: (_, { args: { id } }) => [`${id} runs`],
  }),
  'plugin:disable': requestCommand('POST /api/plugins/{id}/disable', {
    base: PluginNodeCommand,
    summary: 'Stop an extension, until it is enabled.',
    examples: ['plugin disable org.example.thermal'],
    args: { id: ID },
    flags: { force: FORCE },
    ask: ({ args: { id }, flags: { force } }) => ({ params: { id }, body: { force } }),
    lines: (_, { args: { id } }) => [`${id} is stopped`],
  }),
  'plugin:perms': PluginPerms,
  'plugin:logs': PluginLogs,
  'plugin:remove': requestCommand('DELETE /api/plugins/{id}', {
    base: PluginNodeCommand,
    summary: 'Stop an extension and remove it, with everything that it has stored.',
    examples: ['plugin remove org.example.thermal', 'plugin remove org.example.thermal --keep-data'],
    args: { id: ID },
    flags: {
      'keep-data': switchFlag('keep its settings and what it has stored'),
      force: FORCE,
    },
    ask: ({ args: { id }, flags }) => ({
      params: { id },
      query: { keep_data: flags['keep-data'], force: flags.force },
    }),
    lines: (_, { args: { id } }) => [`${id} is removed`],
  }),
  'plugin:init': PluginInit,
  'plugin:dev': PluginDev,
  'plugin:lint': PluginLint,
  'plugin:test': PluginTest,
  'plugin:pack': PluginPack,
  'plugin:keygen': PluginKeygen,
  'plugin:sign': PluginSign,
  'plugin:sdk': PluginSdk,
};
