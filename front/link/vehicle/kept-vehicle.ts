import type { Part } from '../part.ts';
import type { Arming } from './arming.ts';
import type { Choice, KeptVehicle } from './choice.ts';

/** Tells of the chosen vehicle when what is to be kept of it has changed. */
export function keptVehicle(choice: Choice, arming: Arming, onVehicle: (vehicle: KeptVehicle) => void) {
  let told = '';
  return {
    onHeartbeat: () => {
      const { chosen } = choice;
      if (chosen === null) return;
      const kept = { ...chosen, armed: arming.lastWord(chosen.system) };
      const text = JSON.stringify(kept);
      if (text === told) return;
      told = text;
      onVehicle(kept);
    },
  } satisfies Part;
}
