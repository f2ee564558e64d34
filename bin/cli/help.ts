import { Help, type Interfaces } from '@oclif/core';

/** What every terminal has. */
const COLUMNS = 80;

/** The help of `svc`, the same for `svc help X` and `svc X --help`: no wider than a terminal, and flags in their list alone. */
export default class SvcHelp extends Help {
  constructor(config: Interfaces.Config, options: Partial<Interfaces.HelpOptions> = {}) {
    super(config, { ...options, docopts: false, maxWidth: COLUMNS });
  }
}
