import { Args, Flags } from '@oclif/core';
import type { Linted } from '../../plugin/lint.ts';
import type { Step } from '../../plugin/try-extension.ts';
import { PluginTool } from './plugin-command.ts';
import { PLUGIN_EXIT } from './plugin-exit.ts';

export default class PluginTest extends PluginTool {
  static override summary = 'Check an extension, start it without a vehicle, and run its own tests.';
  static override description =
    'Its own tests are those in tests/: *.test.mjs with node --test, and test_*.py with unittest for Python. It runs without the sandbox of a node.';
  static override examples = [
    '<%= config.bin %> plugin test my-extension',
    '<%= config.bin %> plugin test my-extension -k battery',
  ];
  static override args = {
    folder: Args.string({ description: 'the folder with manifest.yaml', default: '.' }),
  };
  static override flags = {
    'tests-dir': Flags.string({ summary: 'where its own tests are', default: 'tests' }),
    only: Flags.string({ char: 'k', summary: 'only its own tests with this in their name' }),
  };

  async run(): Promise<{ readonly linted: Linted; readonly steps: readonly Step[] }> {
    const { args, flags } = await this.parse(PluginTest);
    const { lint } = await import('../../plugin/lint.ts');
    const { readManifestOf } = await import('../../plugin/manifest-file.ts');
    const { runOwnTests, tryExtension } = await import('../../plugin/try-extension.ts');
    const linted = await lint(args.folder);
    for (const warning of linted.warnings) this.warn(warning);
    const manifest = await readManifestOf(args.folder);
    const steps = manifest.agent === null ? [] : await tryExtension(args.folder, manifest);
    const own = await runOwnTests(args.folder, manifest, flags['tests-dir'], flags.only);
    if (own !== null) steps.push(own);
    for (const { name, ok, detail } of steps)
      this.log(`${ok ? 'ok  ' : 'FAIL'}  ${name}${ok || detail === '' ? '' : `: ${detail}`}`);
    if (steps.some(({ ok }) => !ok)) process.exitCode = PLUGIN_EXIT.generic_failure;
    return { linted, steps };
  }
}
