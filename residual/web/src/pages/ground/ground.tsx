import { RadioTower } from 'lucide';
import type { JSX } from 'preact';
import { isGround } from '../../api/node.ts';
import { hrefOf } from '../../app/route.ts';
import nodeCss from '../../network/node.module.css';
import { RadioCards } from '../../network/radio/radio-tab.tsx';
import { EmptyState } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { Drones } from './drones.tsx';
import css from './ground.module.css';
import { GroundNetwork } from './ground-network.tsx';
import { Pilot } from './pilot.tsx';
import { GroundRecording } from './recording.tsx';
import { FactoryReset, Role } from './role.tsx';

/** What only a ground station has: its drones, who flies, its radio, its network. */
export default function Ground(): JSX.Element {
  if (!isGround.value)
    return (
      <EmptyState icon={RadioTower} text={t.ground.notHere}>
        <a class="button" href={hrefOf('setup', 'profile')}>
          {t.ground.makeOne}
        </a>
      </EmptyState>
    );
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
