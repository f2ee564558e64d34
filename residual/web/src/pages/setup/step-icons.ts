import {
  Camera,
  CircleCheckBig,
  CircuitBoard,
  Drone,
  Globe,
  type IconNode,
  KeyRound,
  LockKeyhole,
  RadioTower,
  Tag,
  Wifi,
} from 'lucide';
import type { StepId } from './status.ts';

export const STEP_ICONS: Readonly<Record<StepId, IconNode>> = {
  name: Tag,
  profile: Drone,
  pin: LockKeyhole,
  fc: CircuitBoard,
  camera: Camera,
  radio: RadioTower,
  network: Wifi,
  region: Globe,
  pairing: KeyRound,
  finish: CircleCheckBig,
};
