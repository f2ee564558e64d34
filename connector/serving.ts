import { randomBytes } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/server';
import { every } from '../shared/async/every.ts';
import { messageOf } from '../shared/errors.ts';
import type { OperatorFiles } from '../shared/operator/operator-files.ts';
import type { Logger } from '../shared/process/logger.ts';
import { named, type Service } from '../shared/process/services.ts';
import type { ConnectorAudit } from './audit/audit.ts';
import { Calls } from './calls.ts';
import { FlightSafety } from './gate/flight-safety.ts';
import { Gate } from './gate/gate.ts';
import { NodeSignatures } from './gate/node-signatures.ts';
import { Questions } from './gate/questions.ts';
import { RateLimiter, RESOURCE_RATE, TOOL_RATE } from './gate/rate-limit.ts';
import { WayDown } from './gate/way-down.ts';
import { bytesOfText, Pages } from './pages.ts';
import { Contributions } from './planes/contributions.ts';
import type { FleetPlane } from './planes/fleet-plane.ts';
import { Offers } from './planes/offers.ts';
import type { Plane } from './planes/plane.ts';
import type { Principal } from './principal.ts';
import { contributedPrompts, PROMPTS } from './prompts.ts';
import { type Listener, Resources } from './resources.ts';
import type { ServerDeps } from './server.ts';
import type { Settings } from './settings.ts';
import { compileCatalogue } from './tools/catalogue.ts';
import { contributedTools } from './tools/contributed.ts';

const steady = (): number => performance.now();
const IDENTITY_MS = 3000;
/** Over a broker, what nobody waits for is asked rarely. */
const FLEET_WATCH_MS = 60_000;
/** And not of every node of a large fleet. */
const FLEET_WATCHED = 200;
/** The hub carries and records each question. */
const PERSON_WATCHED = 20;

const EVERYTHING = { refresh: async (): Promise<void> => Promise.resolve(), has: (): boolean => true };

/** Where clients of the 2026 protocol listen. */
export interface Face {
  readonly listeners: readonly Listener[];
  readonly notify: (what: 'tools' | 'resources' | 'prompts') => void;
}

interface ServingOptions {
  readonly settings: Settings;
  readonly operator: OperatorFiles;
  readonly plane: Plane;
  /** On whose behalf nodes are asked that have no key of their own here. */
  readonly launched: Principal | null;
  /** Whether a caller who came in earlier still counts. @throws Denial */
  readonly confirm: (principal: Principal) => Promise<void>;
  readonly audit: ConnectorAudit;
  /** Those that are open now. */
  readonly faces: readonly Face[];
  readonly log: Logger;
}

/** What serves one plane: of a connector, or of one person of many. */
export class Serving {
  readonly deps: ServerDeps;
  readonly services: readonly Service[];
  /** Nodes came or went. */
  readonly onNodes: () => void;

  constructor({ settings, operator, plane, launched, confirm, audit, faces, log }: ServingOptions) {
    const fleet = fleetOf(plane);
    const watch = fleet === null ? {} : { watchMs: FLEET_WATCH_MS };
    const watched = (): Plane['nodes'] =>
      fleet === null
        ? plane.nodes
        : fleet.nodes
            .filter(({ presence }) => presence.online)
            .slice(0, fleet.session.granted.way === null ? PERSON_WATCHED : FLEET_WATCHED);
    const connected = new Set<Server>();
    const onChange = (): void => {
      for (const face of faces) face.notify('tools');
      for (const server of connected)
        server.sendToolListChanged().catch((error: unknown) => log.debug(messageOf(error))); // the client is disconnecting
    };
    const flight = new FlightSafety({
      declared: settings.flightEnforced,
      simulator: settings.sim,
      launched,
      onChange,
      ...watch,
      now: steady,
      log,
    });
    const wayDown = new WayDown({ launched, now: steady });
    let contributed = contributedTools([]);
    const contributions = new Contributions({
      nodes: watched,
      ...watch,
      launched,
      onChange: () => {
        contributed = contributedTools(contributions.all);
        onChange();
        for (const face of faces) for (const what of ['resources', 'prompts'] as const) face.notify(what);
        for (const server of connected)
          for (const told of [server.sendResourceListChanged(), server.sendPromptListChanged()])
            told.catch((error: unknown) => log.debug(messageOf(error))); // as above
      },
      log,
    });
    // A fleet has nodes of every kind, and a question to each of them before every list is too much.
    const offers =
      fleet === null
        ? new Offers({ nodes: () => plane.nodes, launched, onChange, now: steady, log })
        : EVERYTHING;
    const calls = new Calls({
      catalogue: compileCatalogue(),
      contributed: () => contributed,
      plane,
      gate: new Gate({
        operator,
        flight,
        wayDown,
        signatures: new NodeSignatures(),
        now: steady,
        log,
      }),
      rate: new RateLimiter(TOOL_RATE, steady),
      audit,
      confirm,
      toolsets: settings.toolsets,
      showsFlight: () => flight.shown,
      pages: new Pages(steady),
      onChange,
      offers,
    });
    const resources = new Resources({
      plane,
      contributed: () => contributions.all,
      rate: new RateLimiter(RESOURCE_RATE, steady),
      pages: new Pages(steady, bytesOfText),
      audit,
      log,
      confirm,
      listeners: () => faces.flatMap(({ listeners }) => listeners),
    });
    this.deps = {
      calls,
      plane,
      resources,
      prompts: () => [...PROMPTS, ...contributedPrompts(contributions.all)],
      connected,
      stateKey: randomBytes(32),
      questions: new Questions(),
    };
    // One more or less may decide whether the tools ask for the node.
    const onNodes = (): void => {
      onChange();
      for (const face of faces) face.notify('resources');
      for (const server of connected)
        server.sendResourceListChanged().catch((error: unknown) => log.debug(messageOf(error))); // as above
    };
    this.services = [
      named('resources', resources),
      fleet === null ? identityService(plane, onNodes) : named('fleet', started(fleet, onNodes)),
      ...(offers instanceof Offers ? [named('offers', offers)] : []),
      named('extensions', contributions),
      { name: 'flight', start: () => flight.start(watched), stop: () => flight.stop() },
      { name: 'way down', start: () => wayDown.start(), stop: () => wayDown.stop() },
    ];
    this.onNodes = onNodes;
  }
}

export function fleetOf(plane: Plane): FleetPlane | null {
  return plane.mode === 'fleet' ? (plane as FleetPlane) : null;
}

/** The connection to the fleet, which was opened before, tells of nodes and ends with the connector. */
function started(fleet: FleetPlane, onNodes: () => void): Pick<Service, 'start' | 'stop'> {
  return {
    start: () => {
      fleet.onChange = onNodes;
    },
    stop: () => fleet.stop(),
  };
}

/** Asks the nodes who they are: one that was away at the start has not said so yet, and names change. */
function identityService(plane: Plane, onLearned: () => void): Service {
  let timer: NodeJS.Timeout | null = null;
  return {
    name: 'identity',
    start() {
      timer = every(IDENTITY_MS, 'identity', async () => {
        if (await plane.learn()) onLearned();
      });
      timer.unref();
    },
    stop() {
      if (timer !== null) clearInterval(timer);
    },
  };
}
