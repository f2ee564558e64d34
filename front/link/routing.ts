import { modeName } from '../../shared/flight/modes.ts';
import { COMMAND_AT } from '../../shared/mavlink/message-classes.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import { Payload } from '../../shared/mavlink/payload.ts';
import { goalOfFrame } from '../../shared/mission/goal-frames.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { CameraRequest } from '../../shared/rpc/camera.ts';
import { Camera } from './camera/camera.ts';
import type { Clock } from './clock.ts';
import type { Commands } from './commands/commands.ts';
import type { ReachCheck } from './commands/reach-check.ts';
import type { Encoder } from './encode.ts';
import type { Exchange } from './exchange.ts';
import type { Inspector } from './inspector/inspector.ts';
import type { Missions } from './missions/missions.ts';
import type { Params } from './params/params.ts';
import type { RemoteId } from './remote-id/remote-id.ts';
import { isCommand } from './router/arming-command.ts';
import { FlightFrames } from './router/flight-frames.ts';
import type { LoopGuard } from './router/loop-guard.ts';
import type { PilotWatch } from './router/pilot-watch.ts';
import { Router } from './router/router.ts';
import type { SameId } from './router/same-id.ts';
import { WireAnswers } from './router/wire-answers.ts';
import { WireGuard } from './router/wire-guard.ts';
import type { Signing } from './signing/signing.ts';
import type { OldProtocol } from './sources/old-protocol.ts';
import type { Tlog } from './tlog/tlog.ts';
import type { Arming } from './vehicle/arming.ts';
import type { Guard } from './vehicle/guard.ts';
import type { Systems } from './vehicle/systems.ts';
import type { Vehicle } from './vehicle/vehicle.ts';

/** An older position is not where a picture was taken. */
const PLACE_S = 3;

interface RoutingParts {
  readonly clock: Clock;
  readonly inspector: Inspector;
  readonly tlog: Tlog;
  readonly remoteId: RemoteId;
  readonly log: Logger;
  readonly encoder: Encoder;
  /** For answers to endpoints. */
  readonly replies: Encoder;
  /** Encodes as the camera. */
  readonly cameraEncoder: Encoder;
  /** Whether frames of endpoints are signed with the vehicle's key; else they are refused. */
  readonly signEndpoints: boolean;
  readonly loops: LoopGuard;
  readonly pilot: PilotWatch;
  readonly arming: Arming;
  readonly guard: Guard;
  readonly systems: Systems;
  readonly sameId: SameId;
  readonly oldProtocol: OldProtocol;
  readonly exchange: Exchange;
  readonly signing: Signing;
  readonly vehicle: Vehicle;
  readonly params: Params;
  readonly missions: Missions;
  readonly commands: Commands;
  readonly reach: ReachCheck;
  /** The only way to the vehicle; false when the bytes were dropped. */
  readonly leave: (bytes: Buffer) => boolean;
  /** Gets what ground stations want of the camera. */
  readonly onCameraRequest: (request: CameraRequest) => void;
}

/**
 * The router between the vehicle and its endpoints, with the guard of what may pass and the answers to what may not; and the
 * camera, which this node itself plays towards them.
 */
export function openRouting(parts: RoutingParts): { readonly router: Router; readonly camera: Camera } {
  const router = openRouter(parts);
  const camera = openCamera(parts, router);
  router.play(camera);
  return { router, camera };
}

function openRouter(parts: RoutingParts): Router {
  const {
    clock,
    log,
    encoder,
    signEndpoints,
    pilot,
    arming,
    guard,
    systems,
    sameId,
    oldProtocol,
    exchange,
    signing,
    vehicle,
    params,
    missions,
    inspector,
    tlog,
  } = parts;
  const payload = new Payload();
  const flightFrames = new FlightFrames(
    (customMode) => modeName(vehicle.family, customMode),
    () => vehicle.family === 'px4',
  );
  const answers = new WireAnswers({
    clock,
    encoder: parts.replies,
    autopilot: () => vehicle.target,
    seq: () => vehicle.seq,
    param: (name) => params.entry(name),
    paramCount: () => params.progress.expected ?? params.progress.cached,
  });
  return new Router({
    clock,
    toSource: parts.leave,
    autopilot: () => vehicle.target,
    seal: (frame) => {
      const { signer } = encoder;
      if (signer === null || frame.signed) return frame.bytes();
      return signEndpoints ? signer.signFrame(frame) : null;
    },
    onVehicleFrame: (frame) => {
      inspector.onFrame(frame);
      parts.remoteId.onFrame(frame);
      systems.onFrame(frame);
      sameId.onFrame(frame);
      if (frame.system === vehicle.known?.system) oldProtocol.onFrame(frame);
      arming.onFrame(frame);
      signing.onFrame(frame);
      vehicle.handle(frame);
      tlog.heard(frame); // the frame that tells of an arming is its first
    },
    onForwarded: (frame) => {
      inspector.onFrame(frame);
      missions.onForwarded(frame);
      if (flightFrames.flies(frame)) {
        vehicle.commanded();
        vehicle.ordered('station');
      }
      if (sameId.onFrame(frame) && isCommand(frame.id))
        exchange.othersCommand(payload.load(frame).u16(COMMAND_AT));
    },
    guard: new WireGuard(
      (system) => guard.mayChange('frame', system, false),
      (frame) => parts.commands.killing && arming.arms(frame),
      { clientId: () => pilot.clientId, flies: (frame) => flightFrames.flies(frame) },
      (frame) => {
        const goal = goalOfFrame(frame, payload, parts.reach.bases);
        const isItem = frame.id === MSG.MISSION_ITEM_INT || frame.id === MSG.MISSION_ITEM;
        return goal !== null && !parts.reach.allows(goal, isItem);
      },
    ),
    loops: parts.loops,
    refusal: (frame, why, said) => answers.answers(frame, why, said),
    onProblem: (sentence) => log.warn(sentence),
  });
}

function openCamera(parts: RoutingParts, router: Router): Camera {
  const { clock, encoder, signEndpoints, vehicle } = parts;
  return new Camera({
    clock,
    encoder: parts.cameraEncoder,
    isSigned: (frame) => {
      const { signer } = encoder;
      if (signer === null || signEndpoints) return true;
      return frame.signed && signer.verifies(frame);
    },
    router,
    vehicle: () => vehicle.target,
    place: () => {
      const { ages, position } = vehicle.telemetry;
      const isThere = ages.position !== null && ages.position <= PLACE_S && position.state !== 'lost';
      return isThere ? position : null;
    },
    ask: parts.onCameraRequest,
  });
}
