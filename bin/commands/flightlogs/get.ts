import { createWriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Args, Flags } from '@oclif/core';
import { ApiError, codeOf } from '../../../shared/errors.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';

const CLEAR_LINE = '\r\u001b[K';
/** Breaks in a row without a byte. */
const MAX_BREAKS = 5;
const AGAIN_MS = 1000;

export default class FlightLogsGetCommand extends NodeCommand {
  static override summary = 'Fetch one log of the vehicle; goes on where an earlier one broke off.';
  static override examples = ['<%= config.bin %> flightlogs get 12 --output flight.bin'];
  static override args = { id: Args.integer({ description: 'its number in the list', required: true }) };
  static override flags = {
    output: Flags.string({ char: 'o', summary: 'the file; without it, log-<number>.bin here' }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(FlightLogsGetCommand);
    const { id } = args;
    const { logs } = await this.call('GET /api/flight-logs');
    const found = logs.find((log) => log.id === id);
    if (found === undefined)
      this.error(`The vehicle has no log ${id}. See svc flightlogs list.`, { exit: EXIT.refused });
    const output = flags.output ?? `log-${id}.bin`;
    // The name tells whose bytes these are: a part of another log is not gone on with.
    const part = `${output}.${found.time?.replaceAll(/\D/g, '') ?? 'x'}-${found.size}.part`;
    let breaks = 0;
    for (;;) {
      const have = await sizeOf(part);
      if (have >= found.size) break;
      try {
        await this.#rest(id, part, have, found.size);
      } catch (error) {
        // An answer that broke off: the node has more than came, or goes on itself. Its refusals end this.
        // The vehicle has listed more than it has: that is all.
        if (have > 0 && error instanceof ApiError && error.code === 'E_RANGE_NOT_SATISFIABLE') break;
        if ((await sizeOf(part)) > have) breaks = 0;
        else if (++breaks > MAX_BREAKS) throw error;
        if (error instanceof Error && 'status' in error && error.status !== 503) throw error;
        await wait(AGAIN_MS);
      }
    }
    await rename(part, output);
    const size = await sizeOf(output);
    this.log(`${output}: ${size} bytes`);
    if (size < found.size)
      this.warn(`The vehicle has listed ${found.size} bytes of this log, and has no more.`);
    return { output, bytes: size };
  }

  async #rest(id: number, part: string, have: number, size: number): Promise<void> {
    const shows = process.stderr.isTTY;
    let done = have;
    const source = this.stream('GET /api/flight-logs/{id}', {
      params: { id: String(id) },
      headers: { range: `bytes=${have}-` },
    });
    const counted = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of source) {
        done += chunk.length;
        if (shows)
          process.stderr.write(
            `${CLEAR_LINE}log ${id}: ${((100 * done) / size).toFixed(0)} % of ${(size / 1e6).toFixed(1)} MB`,
          );
        yield chunk;
      }
    };
    try {
      await pipeline(Readable.from(counted()), createWriteStream(part, { flags: 'a' }));
    } finally {
      if (shows) process.stderr.write(CLEAR_LINE);
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}
