import type { Profile } from '../profile.ts';
import { CONTROL, GUARDED, SUPERVISOR, section } from './leaf.ts';

/** The section `agent`: what this node is. */
export const agentConfig = section('This node', 'node', {
  profile: {
    title: 'Profile',
    enum: ['drone', 'ground-station'],
    'x-words': ['Drone', 'Ground station'],
    default: 'drone',
    description: 'what this node is',
    'x-profile': true,
    ...GUARDED,
    ...SUPERVISOR,
  },
  name: {
    title: 'Name of this node',
    type: 'string',
    format: 'shown-name',
    maxLength: 64,
    default: '',
    description: 'shown to operators; empty: made from the device ID',
    ...CONTROL,
  },
  role: {
    title: 'Role in a mesh',
    enum: ['direct', 'relay', 'receiver'],
    'x-words': ['Alone', 'Relay', 'Receiver'],
    default: 'direct',
    description: 'a ground station’s role: alone with its drones, or a relay or receiver in a mesh',
    ...GUARDED,
    ...CONTROL,
  },
});

const PROFILE_SPELLINGS: Readonly<Record<string, Profile>> = {
  ground_station: 'ground-station',
  groundstation: 'ground-station',
};

/** The profile that `text` means; other spellings than the two are accepted on input only (docs/contract/node.md#profiles-and-features). */
export function normaliseProfile(text: unknown): unknown {
  return typeof text === 'string' ? (PROFILE_SPELLINGS[text] ?? text) : text;
}

/** The same for a word that has been checked. */
export function profileOf(word: Profile | 'ground_station' | 'groundstation'): Profile {
  return word === 'drone' ? 'drone' : 'ground-station';
}
