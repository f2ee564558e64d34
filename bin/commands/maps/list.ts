import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/maps', {
  summary: 'List the map files of the node and its map sources.',
  examples: ['maps list'],
  *lines({ maps, sources, cache, downloads, problem }) {
    for (const { name, size_bytes: size, tile, min_zoom: from, max_zoom: to } of maps)
      yield `${name.padEnd(30)} ${String(size).padStart(12)} bytes  ${tile}, zoom ${from} to ${to}`;
    if (maps.length === 0) yield 'No map files.';
    for (const { id, name, tile, min_zoom: from, max_zoom: to, attribution } of sources)
      yield `source ${id}: ${name}, ${tile}, zoom ${from} to ${to}, ${attribution}`;
    if (sources.length === 0) yield 'No map sources. Set them: maps.sources in the config.';
    else yield `kept of them: ${cache.bytes} of ${cache.limit} bytes`;
    for (const { name, done, total } of downloads) yield `${name} is being made: ${done} of ${total} tiles`;
    if (problem !== null) yield problem;
  },
});
