import { Args } from '@oclif/core';
import { requestCommand, switchFlag } from '../cli/request-command.ts';
import PluginDev from './plugin/dev.ts';
import PluginInfo from './plugin/info.ts';
import PluginInit from './plugin/init.ts';
import PluginInstall from './plugin/install.ts';
import PluginKeygen from './plugin/keygen.ts';
import PluginLint from './plugin/lint.ts';
import PluginList from './plugin/list.ts';
import PluginLogs from './plugin/logs.ts';
import PluginPack from './plugin/pack.ts';
import PluginPerms from './plugin/perms.ts';
import { PluginNodeCommand } from './plugin/plugin-node-command.ts';
import PluginSdk from './plugin/sdk.ts';
import PluginSign from './plugin/sign.ts';
import PluginTest from './plugin/test.ts';

const ID = Args.string({ required: true, description: 'its id' });
const FORCE = switchFlag('even while the vehicle is armed');

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
