/** Families of rarely used tools: listed when --toolset asks for them, understood always. */
export const TOOLSETS = ['mission', 'payload', 'flight-logs'] as const;
export type Toolset = (typeof TOOLSETS)[number];
