import {
  BatteryLow,
  CircleQuestionMark,
  Drone,
  type IconNode,
  OctagonAlert,
  Plane,
  Power,
  RadioTower,
  TriangleAlert,
  WifiOff,
} from 'lucide';
import type { JSX } from 'preact';
import type { Phase } from '../../../../../shared/fleet/node-state.ts';
import { Icon } from '../../parts/parts.tsx';
import css from '../hub.module.css';
import { hub } from '../hub-words.ts';
import type { FleetNode } from './fleet.ts';
import { type Attention, attentionOf, phaseOf } from './state.ts';

const PHASE_ICONS: Readonly<Record<Phase, IconNode>> = {
  flying: Plane,
  armed: Power,
  ground: Drone,
  unknown: CircleQuestionMark,
  away: WifiOff,
};
const ATTENTION_ICONS: Readonly<Record<Attention, IconNode>> = {
  alarm: OctagonAlert,
  wasArmed: TriangleAlert,
  armedUnknown: CircleQuestionMark,
  lowBattery: BatteryLow,
  silent: CircleQuestionMark,
};

type Tone = 'bad' | 'warn' | 'flying' | 'calm' | 'off';

function toneOf(entry: FleetNode['entry']): Tone {
  const attention = attentionOf(entry);
  if (attention === 'alarm' || attention === 'wasArmed') return 'bad';
  return attention === null ? toneOfPhase(entry) : 'warn';
}

/** Of what it does, whatever is the matter: what flies has one colour everywhere. */
function toneOfPhase(entry: FleetNode['entry']): Tone {
  const phase = phaseOf(entry);
  if (phase === 'flying') return 'flying';
  if (phase === 'armed') return 'warn';
  return phase === 'ground' ? 'calm' : 'off';
}

/** What is the matter, or what it does, as a picture. */
export function StateIcon({ entry }: { readonly entry: FleetNode['entry'] }): JSX.Element {
  const attention = attentionOf(entry);
  const phase = phaseOf(entry);
  const still = entry.profile === 'ground-station' && phase === 'ground' ? RadioTower : PHASE_ICONS[phase];
  return (
    <span class={`${css['state-icon']} ${toneOf(entry)}`}>
      <Icon of={attention === null ? still : ATTENTION_ICONS[attention]} />
    </span>
  );
}

/** What a node does now, in two words at most. */
export function phaseWord(entry: FleetNode['entry']): string {
  const phase = phaseOf(entry);
  return phase === 'ground' && entry.profile === 'ground-station'
    ? hub.fleet.word.station
    : hub.fleet.phase[phase];
}

/** What a person must look at, in words; null: nothing. The alarm in the words of the hub. */
export function attentionWords(entry: FleetNode['entry']): string | null {
  const attention = attentionOf(entry);
  if (attention === null) return null;
  return attention === 'alarm' ? (entry.alarm ?? hub.fleet.word.alarm) : hub.fleet.word[attention];
}

/** Whether it is to be read before anything else. */
export function isGrave(entry: FleetNode['entry']): boolean {
  return toneOf(entry) === 'bad';
}

/** Icon and word, for where there is a line and no more. */
export function State({ entry }: { readonly entry: FleetNode['entry'] }): JSX.Element {
  const attention = attentionOf(entry);
  const isShown = attention !== null && attention !== 'lowBattery';
  return (
    <span class={`${css['state']} ${isShown ? toneOf(entry) : toneOfPhase(entry)}`}>
      <Icon of={isShown ? ATTENTION_ICONS[attention] : PHASE_ICONS[phaseOf(entry)]} />
      {isShown ? hub.fleet.word[attention] : phaseWord(entry)}
    </span>
  );
}
