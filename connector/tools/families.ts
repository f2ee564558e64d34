import { TOOLSETS, type Toolset } from '../toolsets.ts';
import type { Tool } from './tool.ts';

/** Lists more tools: clients call only what they were shown. */
export const familyTools: readonly Tool[] = [
  {
    name: 'tools_show',
    title: 'More tools',
    description:
      'Lists a family of further tools: mission (upload, fence, build surveys), payload (camera, gimbal, outputs), flight-logs, setup (config, extensions, network, power, audit).',
    routes: [],
    input: {
      properties: { family: { type: 'string', enum: [...TOOLSETS], description: 'which' } },
      required: ['family'],
    },
    idempotent: true,
    fleetWide: true,
    run: async ({ args, show }) => {
      const family = TOOLSETS.find((each): each is Toolset => each === args['family']) ?? 'mission';
      const tools = (await show(family)).map(({ name, description }) => ({ name, description }));
      return {
        value: { family, tools },
        text:
          tools.length === 0
            ? `You may use no tool of the family ${family} here.`
            : tools.map(({ name, description }) => `${name}: ${description}`).join('\n'),
      };
    },
  },
];
