import { Flags } from '@oclif/core';
import { NodeCommand } from '../../node-command.ts';
import { type PostureChange, postureText, setTokenPosture } from '../../token-posture.ts';

export default class McpEnableCommand extends NodeCommand {
  static override summary = 'Let the node on this machine accept scoped tokens; needs root.';
  static override description =
    'Writes mcp.token_accept_enabled into the config file and restarts svc-control, nothing else. In a checkout, where npm start runs the demo node without root, the owner of its config file may do it too.';
  static override examples = [
    'sudo <%= config.bin %> mcp enable',
    'sudo <%= config.bin %> mcp enable --no-restart',
  ];
  static override flags = {
    restart: Flags.boolean({
      summary: 'restart svc-control, so that it takes effect at once',
      default: true,
      allowNo: true,
    }),
  };

  async run(): Promise<PostureChange> {
    const { flags } = await this.parse(McpEnableCommand);
    const change = await setTokenPosture(this.paths, true, flags.restart);
    this.log(postureText(change));
    return change;
  }
}
