import type { ComponentProps, JSX } from 'preact';
import { isAwaited } from '../api/telemetry.ts';
import { Awaited, EmptyState } from '../parts/parts.tsx';

/** What is said where the vehicle has told nothing: only once it could have. */
export function Unheard(said: ComponentProps<typeof EmptyState>): JSX.Element {
  return isAwaited.value ? <Awaited /> : <EmptyState {...said} />;
}
