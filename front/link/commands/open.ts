import { messageOf } from '../../../shared/errors.ts';
import type { CommandRequest } from '../../../shared/rpc/link.ts';
import type { Encoder } from '../encode.ts';
import type { Methods, Part } from '../part.ts';
import type { Speaking } from '../speaking.ts';
import { Commander } from './commander.ts';
import { Commands } from './commands.ts';
import { Manual } from './manual.ts';
import { Offboard } from './offboard.ts';
import { ReachCheck } from './reach-check.ts';
import { StickRule } from './stick-rule.ts';

type ReachOptions = ConstructorParameters<typeof ReachCheck>[0];
type CommandsOptions = ConstructorParameters<typeof Commands>[0];

interface OrdersOptions
  extends Speaking,
    Pick<ReachOptions, 'maxM' | 'fence' | 'mission'>,
    Pick<CommandsOptions, 'refusals' | 'prearm' | 'params'> {
  /** Encodes as a ground station. */
  readonly sticks: Encoder;
}

/** What makes the vehicle move, and who says so. */
export function openOrders(options: OrdersOptions) {
  const { clock, log, params, mission, sticks } = options;
  const param = (name: string): number | null => params.valueOf(name);
  const reach = new ReachCheck({ ...options, param });
  const stickRule: StickRule = new StickRule({ ...options, isSteered: () => manual.state.holder !== null });
  const commands = new Commands({ ...options, reach, stickRule, mission: async () => mission.read() });
  const killing = (): boolean => commands.killing;
  const offboard = new Offboard({
    ...options,
    reach,
    killing,
    loiter: () => {
      commands.loiter().catch((error: unknown) => log.warn(`holding after set-points: ${messageOf(error)}`));
    },
  });
  const manual = new Manual({ ...options, encoder: sticks, killing, param });
  const commander = new Commander(clock);
  const methods = {
    command: async (request: CommandRequest, signal?: AbortSignal) => {
      const result = await commands.execute(request, signal);
      if (result.status === 'accepted') commander.tell(request.by);
      return result;
    },
    setpoint: ({ holder, point, by }) => {
      const state = offboard.take(holder, point);
      commander.tell(by);
      return state;
    },
    setpoint_end: ({ holder }) => {
      offboard.release(holder);
      return offboard.state;
    },
    manual: ({ holder, sticks: given, by }) => {
      const state = manual.take(holder, given);
      commander.tell(by);
      return state;
    },
    manual_end: ({ holder }) => {
      manual.release(holder);
      return manual.state;
    },
  } satisfies Methods;
  return { reach, stickRule, commands, offboard, manual, commander, orders: { methods } satisfies Part };
}
