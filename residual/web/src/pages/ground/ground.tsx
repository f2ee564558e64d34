import type { JSX } from 'preact';
import { isGround } from '../../api/node.ts';
import nodeCss from '../../network/node.module.css';
import { RadioCards } from '../../network/radio/radio-tab.tsx';
import { Note } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { Drones } from './drones.tsx';
import css from './ground.module.css';
import { GroundNetwork } from './ground-network.tsx';
import { Pilot } from './pilot.tsx';
import { GroundRecording } from './recording.tsx';
import { FactoryReset, Role } from './role.tsx';

/** What only a ground station has: its drones, who flies, its radio, its network. */
export default function Ground(): JSX.Element {
  if (!isGround.value) return <Note>{t.ground.notHere}</Note>;
  return (
    <div class={nodeCss['node-page']}>
      <Pilot />
      <div class={css['heard']}>
        <Drones />
      </div>
      <div class="columns">
        <RadioCards />
        <GroundNetwork />
        <GroundRecording />
        <Role />
        <FactoryReset />
      </div>
    </div>
  );
}
