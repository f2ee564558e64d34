import { Args, Flags } from '@oclif/core';
import { requestCommand, switchFlag, usageError } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';

/** Four numbers, `8.5,47.3,8.6,47.4`. @throws CLIError */
function boundsOf(text: string): number[] {
  const numbers = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (numbers.length !== 4 || !numbers.every(Number.isFinite))
    throw usageError('The area is west,south,east,north in degrees, for example 8.5,47.3,8.6,47.4.');
  return numbers;
}

export default {
  'maps:list': requestCommand('GET /api/maps', {
    summary: 'List the map files of the node and its map sources.',
    examples: ['maps list'],
    *lines({ maps, sources, cache, downloads, problem }) {
      yield* tableOf(
        ['NAME', 'BYTES', 'TILES', 'ZOOM'],
        maps.map(({ name, size_bytes: size, tile, min_zoom: from, max_zoom: to }) => [
          name,
          size,
          tile,
          `${from} to ${to}`,
        ]),
      );
      if (maps.length === 0) yield 'No map files.';
      for (const { id, name, tile, min_zoom: from, max_zoom: to, attribution } of sources)
        yield `source ${id}: ${name}, ${tile}, zoom ${from} to ${to}, ${attribution}`;
      if (sources.length === 0) yield 'No map sources. Set them: maps.sources in the config.';
      else yield `kept of them: ${cache.bytes} of ${cache.limit} bytes`;
      for (const { name, done, total } of downloads) yield `${name} is being made: ${done} of ${total} tiles`;
      if (problem !== null) yield problem;
    },
  }),
  'maps:download': requestCommand('POST /api/maps/download', {
    summary: 'Make an offline map of an area, from a map source of the node.',
    description:
      'Goes on in the node if this command ends; `svc maps list` shows it, `svc maps delete` stops it. Read the terms of the provider first.',
    examples: [
      'maps download aerial field.pmtiles --bbox=8.5,47.3,8.6,47.4 --count',
      'maps download aerial field.pmtiles --bbox=8.5,47.3,8.6,47.4',
    ],
    args: {
      source: Args.string({ description: 'id of the source', required: true }),
      name: Args.string({ description: 'name of the file, ending in .pmtiles', required: true }),
    },
    flags: {
      bbox: Flags.string({ summary: 'west,south,east,north, degrees', required: true }),
      'min-zoom': Flags.integer({ summary: 'lowest zoom', default: 8, min: 0, max: 22 }),
      'max-zoom': Flags.integer({ summary: 'highest zoom', default: 16, min: 0, max: 22 }),
      count: switchFlag('only say how many tiles and how large'),
    },
    ask: ({ args: { source, name }, flags }) => ({
      body: {
        source,
        name,
        bbox: boundsOf(flags.bbox),
        min_zoom: flags['min-zoom'],
        max_zoom: flags['max-zoom'],
        ...(flags.count ? { dry_run: true } : {}),
      },
    }),
    isLong: true,
    *lines({ map, tiles, missing, estimated_bytes: estimated, free_bytes: free, attribution }) {
      if (map === null) {
        const room = free === null ? '' : `, ${Math.round(free / 1e6)} MB free`;
        yield `${tiles} tiles, about ${Math.ceil(estimated / 1e6)} MB${room}. ${attribution}`;
        return;
      }
      yield `${map.name}: ${tiles - missing} tiles, ${map.size_bytes} bytes. ${attribution}`;
      if (missing > 0) yield `${missing} tiles could not be had`;
    },
  }),
  'maps:delete': requestCommand('DELETE /api/maps/{name}', {
    summary: 'Delete a map file, or stop the download that makes it.',
    examples: ['maps delete field.pmtiles'],
    args: { name: Args.string({ description: 'its name in the list', required: true }) },
    ask: ({ args: { name } }) => ({ params: { name } }),
    lines: ({ name }) => [`${name} was deleted`],
  }),
};
