import type { Made } from '../../../shared/schemas/made.ts';
import type { setupStatus } from '../../../shared/schemas/setup.ts';
import { STEP_IDS, type StepId } from '../../../shared/schemas/setup.ts';
import type { Fact, NodeFacts } from './node-facts.ts';
import type { Marks } from './setup-marks.ts';

/** The steps of the set-up: what each of them is, by what the node sees and what a person said. */

export type Step = Made<typeof setupStatus>['steps'][number];

type StepView = readonly [state: Exclude<Step['state'], 'skipped'>, detail: string];

/** A person can say that the present setting is right; of the others the node sees whether they are done. */
export const CONFIRMABLE: ReadonlySet<StepId> = new Set(['name', 'profile', 'region']);

const LOOK: Readonly<Record<StepId, (facts: NodeFacts, marks: Marks) => StepView>> = {
  name: ({ config: { agent } }) =>
    agent.name === ''
      ? ['optional', 'It has the name that is made from its device id.']
      : ['complete', `It is called ${agent.name}.`],

  profile: ({ config: { agent }, running, chosen }) => {
    const role = agent.profile === 'ground-station' ? ` (${agent.role})` : '';
    if (!chosen.profile) return ['needs_action', `Nobody has chosen; it works as a ${running}.`];
    const later =
      agent.profile === running ? '' : `, once it has been restarted; now it works as a ${running}`;
    return ['complete', `It is a ${agent.profile}${role}${later}.`];
  },

  pin: ({ pin }) =>
    ifKnown(pin, (set) => (set ? ['complete', 'A PIN is set.'] : ['needs_action', 'No PIN is set.'])),

  fc: ({ config: { agent }, link }) => {
    if (agent.profile !== 'drone') return ['not_applicable', 'The flight controller is on the drone.'];
    return ifKnown(link, (state) => {
      if (!state.heard) return ['needs_action', `No heartbeat came from ${state.source}.`];
      if (!state.mavlink_alive) return ['needs_action', `It is silent; the source is ${state.source}.`];
      const firmware = [state.firmware ?? 'unknown firmware', state.firmware_version]
        .filter(Boolean)
        .join(' ');
      return [
        'complete',
        `${firmware} on ${state.fc_port ?? state.source}${state.simulated ? ', simulated' : ''}.`,
      ];
    });
  },

  camera: ({ config: { agent, video: settings }, video }) => {
    if (agent.profile !== 'drone') return ['not_applicable', 'The camera is on the drone.'];
    if (settings.source === 'none') return ['not_applicable', 'Video is off in the config (video.source).'];
    return ifKnown(video, ({ state, source, problem }) =>
      state === 'running'
        ? ['complete', `Pictures come from ${source ?? 'the camera'}.`]
        : ['needs_action', problem ?? `The camera is ${state}.`],
    );
  },

  radio: ({ config: { radio }, radios }) => {
    if (radio.mode === 'off') return ['optional', 'The radio is off in the config (radio.mode).'];
    return ifKnown(radios, (bound) =>
      bound > 0 ? ['complete', `Bound radios: ${bound}.`] : ['needs_action', 'No other end is bound.'],
    );
  },

  network: ({ addresses }) =>
    addresses.length > 0
      ? ['complete', `Addresses: ${addresses.slice(0, 8).join(', ')}.`]
      : ['needs_action', 'No interface has an address.'],

  region: ({ config: { radio }, chosen }) => {
    if (radio.mode === 'off') return ['not_applicable', 'There is no radio that must keep to its rules.'];
    return chosen.region
      ? ['complete', `The radio keeps to the rules of ${radio.region}.`]
      : ['needs_action', `Nobody has chosen; the radio keeps to the rules of ${radio.region}.`];
  },

  pairing: ({ paired }) =>
    ifKnown(paired, (is) =>
      is ? ['complete', 'The node is paired.'] : ['needs_action', 'The node is not paired.'],
    ),

  finish: (_facts, { finished_at: at }) =>
    at === null ? ['needs_action', 'The set-up is not finished.'] : ['complete', `Finished at ${at}.`],
};

export function stepsOf(facts: NodeFacts, marks: Marks): readonly Step[] {
  return STEP_IDS.map((id) => {
    const [state, detail] = LOOK[id](facts, marks);
    const mark = marks.steps[id];
    // What is there, and what cannot be, is stronger than what was said.
    if (state === 'complete' || state === 'not_applicable' || mark === undefined)
      return { id, state, detail };
    return { id, state: mark, detail };
  });
}

function ifKnown<T>(fact: Fact<T>, see: (is: T) => StepView): StepView {
  return 'is' in fact ? see(fact.is) : ['needs_action', `Not known: ${fact.unknown}.`];
}
