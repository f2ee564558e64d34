import packageJson from '../package.json' with { type: 'json' };

/** The version of this node's software, a dotted string. */
export const VERSION: string = packageJson.version;
