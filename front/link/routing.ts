import { modeName } from '../../shared/flight/modes.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import { Payload } from '../../shared/mavlink/payload.ts';
import { goalOfFrame } from '../../shared/mission/goal-frames.ts';
import type { LinkProblem } from '../../shared/rpc/link-state.ts';
import type { Commands } from './commands/commands.ts';
import type { ReachCheck } from './commands/reach-check.ts';
import type { StickRule } from './commands/stick-rule.ts';
import type { Encoder } from './encode.ts';
import type { Params } from './params/params.ts';
import type { Methods, Part } from './part.ts';
import { FlightFrames } from './router/flight-frames.ts';
import type { LoopGuard } from './router/loop-guard.ts';
import { PilotWatch } from './router/pilot-watch.ts';
import { Router } from './router/router.ts';
import { WireAnswers } from './router/wire-answers.ts';
import { WireGuard } from './router/wire-guard.ts';
import type { Speaking } from './speaking.ts';
import type { Arming } from './vehicle/arming.ts';

interface RoutingOptions extends Omit<Speaking, 'send' | 'ask' | 'exchange'> {
  /** The configured source as text. */
  readonly source: string;
  /** For answers to endpoints. */
  readonly replies: Encoder;
  /** Whether frames of endpoints are signed with the vehicle's key; else they are refused. */
  readonly signEndpoints: boolean;
  readonly loops: LoopGuard;
  readonly arming: Arming;
  readonly params: Params;
  readonly commands: Commands;
  readonly reach: ReachCheck;
  readonly stickRule: StickRule;
  /** The only way to the vehicle; false when the bytes were dropped. */
  readonly leave: (bytes: Buffer) => boolean;
  /** Who is told of frames, in this order. */
  readonly parts: () => readonly Part[];
}

/** The router between the vehicle and its endpoints, with the guard of what may pass and the answers to what may not. */
export function openRouting(options: RoutingOptions) {
  const { clock, log, vehicle, guard, encoder, arming, params, commands, reach, stickRule, loops, parts } =
    options;
  const payload = new Payload();
  const pilot = new PilotWatch(clock);
  const flightFrames = new FlightFrames(
    (customMode) => modeName(vehicle.family, customMode),
    () => vehicle.family === 'px4',
  );
  const answers = new WireAnswers({
    clock,
    encoder: options.replies,
    autopilot: () => vehicle.target,
    seq: () => vehicle.seq,
    param: (name) => params.entry(name),
    paramCount: () => params.progress.expected ?? params.progress.cached,
  });
  const router = new Router({
    clock,
    toSource: options.leave,
    autopilot: () => vehicle.target,
    seal: (frame) => {
      const { signer } = encoder;
      if (signer === null || frame.signed) return frame.bytes();
      return options.signEndpoints ? signer.signFrame(frame) : null;
    },
    onVehicleFrame: (frame) => {
      for (const part of parts()) part.onFrame?.(frame);
    },
    onForwarded: (frame) => {
      for (const part of parts()) part.onForwarded?.(frame);
    },
    guard: new WireGuard(
      (system) => guard.mayChange('frame', system, false),
      (frame) => commands.killing && arming.arms(frame),
      { clientId: () => pilot.clientId, flies: (frame) => flightFrames.flies(frame) },
      (frame) => {
        const goal = goalOfFrame(frame, payload, reach.bases);
        const isItem = frame.id === MSG.MISSION_ITEM_INT || frame.id === MSG.MISSION_ITEM;
        return goal !== null && !reach.allows(goal, isItem);
      },
      (frame) => !stickRule.allows(frame),
    ),
    loops,
    refusal: (frame, why, said) => answers.answers(frame, why, said),
    onProblem: (sentence) => log.warn(sentence),
  });
  const routing = {
    methods: {
      pilot: ({ client_id: clientId }) => {
        pilot.tell(clientId);
        return {};
      },
    } satisfies Methods,
    onForwarded: (frame) => {
      if (!flightFrames.flies(frame)) return;
      vehicle.commanded();
      vehicle.ordered('station');
    },
    problems: (): LinkProblem[] => {
      // A vehicle forwards our frames to its other links, from where they may come back. The source is fine then.
      if (!router.sourceLoops || vehicle.alive) return [];
      const detail = `What this node sends to its source ${options.source} comes back from it: it leads to an endpoint of this node. Point mavlink.source at the flight controller.`;
      return [{ code: 'source_loops', detail }];
    },
  } satisfies Part;
  return { router, routing };
}
