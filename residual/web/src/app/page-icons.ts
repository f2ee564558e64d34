import {
  Cpu,
  Drone,
  type IconNode,
  KeyRound,
  Navigation,
  Puzzle,
  RadioTower,
  Route,
  WandSparkles,
} from 'lucide';
import type { PageId } from './route.ts';

export const PAGE_ICONS: Readonly<Record<PageId, IconNode>> = {
  fly: Navigation,
  plan: Route,
  vehicle: Drone,
  node: Cpu,
  extensions: Puzzle,
  access: KeyRound,
  ground: RadioTower,
  setup: WandSparkles,
};
