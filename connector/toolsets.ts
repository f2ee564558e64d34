/** Families of rarely used tools: listed when --toolset or `tools_show` asks for them, understood always. */
export const TOOLSETS = ['mission', 'payload', 'flight-logs', 'setup'] as const;
export type Toolset = (typeof TOOLSETS)[number];
