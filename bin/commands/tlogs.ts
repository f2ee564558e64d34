import { Args } from '@oclif/core';
import { requestCommand } from '../cli/request-command.ts';
import { reportLines } from './flightlogs/report-lines.ts';
import TlogsGetCommand from './tlogs/get.ts';

const NAME = Args.string({ description: 'its name in the list', required: true });

export default {
  'tlogs:list': requestCommand('GET /api/tlogs', {
    summary: 'List the telemetry logs of the node.',
    examples: ['tlogs list'],
    *lines({ tlogs, writing, problem }) {
      for (const { name, size_bytes: size, modified_at: at } of tlogs)
        yield `${name.padEnd(30)} ${String(size).padStart(12)} bytes  ${at}${name === writing ? '  being written' : ''}`;
      if (tlogs.length === 0) yield 'No telemetry logs.';
      if (problem !== null) yield problem;
    },
  }),
  'tlogs:get': TlogsGetCommand,
  'tlogs:report': requestCommand('GET /api/tlogs/{name}/report', {
    summary: 'What happened in a flight, from a telemetry log of the node.',
    examples: ['tlogs report 20261127T063000.000Z.tlog'],
    args: { name: NAME },
    ask: ({ args: { name } }) => ({ params: { name } }),
    isLong: true,
    lines: reportLines,
  }),
  'tlogs:delete': requestCommand('DELETE /api/tlogs/{name}', {
    summary: 'Delete one telemetry log of the node.',
    examples: ['tlogs delete 20261127T063000.000Z.tlog'],
    args: { name: NAME },
    ask: ({ args: { name } }) => ({ params: { name } }),
    lines: ({ name }) => [`${name} was deleted`],
  }),
};
