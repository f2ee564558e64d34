import { extname } from 'node:path';
import { Args, type Command, Flags } from '@oclif/core';
import { messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { ITEM_COMMANDS } from '../../../shared/mission/commands.ts';
import { warningText } from '../../../shared/mission/warning.ts';
import type { Answer, RequestOf } from '../../../shared/routes/typed-row.ts';
import type { MissionItem, MissionPart } from '../../../shared/schemas/mission-item.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand, shownWork } from '../../cli/node-command.ts';
import { readText } from '../../cli/text-file.ts';

const PLAN = '.plan';
const WPL: ReadonlySet<string> = new Set(['.waypoints', '.txt', '.wpl']);
const NAMES: Readonly<Record<MissionPart, string>> = {
  mission: 'mission',
  fence: 'fence',
  rally: 'rally points',
};

type MissionPutAnswer = Answer<'mission.put'>;
type PutQuery = NonNullable<RequestOf<'mission.put'>['query']>;

/** A command about the mission, the fence or the rally points: `svc mission get`, `svc fence put` and so on. */
abstract class MissionCommand extends NodeCommand {
  /** Sends a file: JSON (a plan, or a list of items) if it begins as such, else text (QGC WPL 110, points). */
  protected async put(part: MissionPart, file: string, query: PutQuery): Promise<MissionPutAnswer> {
    const content = await readText(this, file);
    const route = `PUT /api/${part}` as const;
    if (!/^\s*[[{]/.test(content)) return this.work(route, { query, text: content });
    let body: unknown;
    try {
      body = JSON.parse(content);
    } catch (error) {
      this.error(`${file} is no JSON: ${messageOf(error)}`, { exit: EXIT.usage });
    }
    return shownWork(this.address, route, { query, body: Array.isArray(body) ? { items: body } : body });
  }

  protected show(items: readonly MissionItem[]): void {
    for (const { seq, command, frame, x, y, z } of items) {
      const name = (ITEM_COMMANDS.get(command)?.name ?? `MAV_CMD ${command}`).padEnd(32);
      this.log(
        `${String(seq).padStart(4)} ${name} frame ${frame}  ${x.toFixed(7)} ${y.toFixed(7)} ${shownFloat(z)} m`,
      );
    }
  }
}

const file = Args.string({
  description: 'a plan, QGC WPL 110, a list of points, or items as JSON; - is stdin',
  required: true,
});

/** The commands of one part, each with its id. */
export function missionCommands(part: MissionPart): Readonly<Record<string, Command.Class>> {
  return {
    [`${part}:get`]: getCommand(part),
    [`${part}:put`]: putCommand(part, false),
    [`${part}:check`]: putCommand(part, true),
    [`${part}:clear`]: clearCommand(part),
  };
}

/** `svc … get`: what the vehicle holds, on the screen or into a file. */
function getCommand(part: MissionPart): Command.Class {
  return class GetCommand extends MissionCommand {
    static override summary = `Show the ${NAMES[part]} of the vehicle, or write it to a file.`;
    static override examples = [`<%= config.bin %> ${part} get`, `<%= config.bin %> ${part} get before.plan`];
    static override args = { file: Args.string({ description: '.plan, .waypoints or .json' }) };
    static override flags = {
      refresh: Flags.boolean({ summary: 'read from the vehicle, not from the cache', default: false }),
    };

    async run(): Promise<unknown> {
      const { args, flags } = await this.parse(GetCommand);
      const target = args.file;
      const extension = extname(target ?? '');
      const format = extension === PLAN ? 'plan' : WPL.has(extension) ? 'wpl' : 'json';
      const query = { format, refresh: flags.refresh };
      const answer = await this.work(`GET /api/${part}` as const, { query });
      if (target !== undefined) {
        const text = typeof answer === 'string' ? answer : `${JSON.stringify(answer, null, 2)}\n`;
        await writeAtomic(target, text, 0o644);
        this.log(`${target}: written`);
        return { file: target };
      }
      if (typeof answer === 'object' && !('fileType' in answer)) {
        this.show(answer.items);
        this.log(itemsText(answer.count));
      }
      return answer;
    }
  };
}

/** `svc … put`: writes a file to the vehicle. `svc … check`: checks it, and sends nothing. */
function putCommand(part: MissionPart, isDry: boolean): Command.Class {
  const verb = isDry ? 'check' : 'put';
  const parts = Flags.string({
    summary: 'parts of a plan file: mission,fence,rally; without it the own one',
  });
  const far = Flags.boolean({
    summary: "also further than flight.max_goto_m, outside of the vehicle's fence, or below the ground",
    default: false,
  });
  return class PutCommand extends MissionCommand {
    static override summary = isDry
      ? `Check a file as ${NAMES[part]}; nothing is sent to the vehicle.`
      : `Write a file to the vehicle as its ${NAMES[part]}; done when read back.`;
    static override examples = [`<%= config.bin %> ${part} ${verb} survey.plan`];
    static override args = { file };
    static override flags = { parts, 'allow-far': far };

    async run(): Promise<MissionPutAnswer> {
      const { args, flags } = await this.parse(PutCommand);
      const answer = await this.put(part, args.file, {
        dry_run: isDry,
        parts: flags.parts,
        allow_far: flags['allow-far'],
      });
      for (const warning of answer.warnings) this.logToStderr(warningText(warning));
      this.log(
        isDry
          ? `${itemsText(answer.count)}, nothing was sent`
          : `the vehicle holds ${itemsText(answer.count)}`,
      );
      return answer;
    }
  };
}

/** `svc … clear` */
function clearCommand(part: MissionPart): Command.Class {
  return class ClearCommand extends MissionCommand {
    static override summary = `Clear the ${NAMES[part]} of the vehicle.`;
    static override examples = [`<%= config.bin %> ${part} clear`];

    async run(): Promise<unknown> {
      await this.parse(ClearCommand);
      const answer = await this.work(`DELETE /api/${part}` as const);
      this.log(`the vehicle holds no ${NAMES[part]}`);
      return answer;
    }
  };
}

function itemsText(count: number): string {
  return count === 1 ? '1 item' : `${count} items`;
}
