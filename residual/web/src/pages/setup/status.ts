import { call } from '../../api/client.ts';
import type { Answer } from '../../api/rows.ts';

/** The steps of the set-up as the node has them. */

export type Step = Answer<'setup.status.get'>['steps'][number];
export type StepId = Step['id'];

/** What a step may do: it sets things by their own routes, and then says so. */
export interface StepProps {
  readonly step: Step;
  /** Asks the node anew how far the set-up is. */
  readonly reload: () => void;
  /** Marks this step as right, and goes on. @throws Refused */
  readonly complete: () => Promise<void>;
}

/** Steps that a person can call right as they are; of the others the node sees whether they are done. */
export const CONFIRMABLE: ReadonlySet<StepId> = new Set(['name', 'profile', 'region']);

/** @throws Refused */
export async function mark(id: StepId, action: 'complete' | 'skip' | 'undo'): Promise<void> {
  await call('setup.step.id.post', { params: { id }, body: { action } });
}
