import type { Answer } from '../api/rows.ts';

export type Installed = Answer<'plugins.get'>['installs'][number];
export type Detailed = Answer<'plugins.id.get'>;
export type Manifest = NonNullable<Detailed['manifest']>;
export type Permission = Manifest['permissions'][number];

export function toneOf(status: Installed['status']): 'info' | 'good' | 'warn' | 'bad' {
  if (status === 'running' || status === 'enabled') return 'good';
  return status === 'failed' || status === 'incompatible' ? 'bad' : 'info';
}

export function toneOfRisk(risk: Permission['risk']): 'info' | 'warn' | 'bad' {
  return risk === 'low' ? 'info' : risk === 'medium' ? 'warn' : 'bad';
}

export function isOn(status: Installed['status']): boolean {
  return status === 'running' || status === 'enabled';
}
