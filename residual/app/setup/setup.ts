import { profileOf } from '../../../shared/config/agent.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { setupRows } from '../../../shared/routes/setup.ts';
import { STEP_IDS, type StepId } from '../../../shared/schemas/setup.ts';
import type { ConfigStore } from '../config/store.ts';
import type { NodeFacts } from './node-facts.ts';
import type { SetupMarks } from './setup-marks.ts';
import { CONFIRMABLE, type Step, stepsOf } from './steps.ts';

interface SetupOptions {
  readonly marks: SetupMarks;
  readonly config: ConfigStore;
  readonly lookAround: () => Promise<NodeFacts>;
  /** Wall clock, ms. */
  readonly now: () => number;
}

type SetupRows = Exclude<keyof HandlersOf<typeof setupRows, 'residual'>, 'setup.get' | 'setup.path.get'>;

export function setupHandlers({
  marks,
  config,
  lookAround,
  now,
}: SetupOptions): Pick<HandlersOf<typeof setupRows, 'residual'>, SetupRows> {
  const steps = async (): Promise<readonly Step[]> => stepsOf(await lookAround(), marks.now);
  const status = async () => {
    const all = await steps();
    const finished = marks.now.finished_at !== null;
    const open = all.find(({ state }) => state === 'needs_action' || state === 'optional');
    return { steps: all, finished, next: finished ? null : (open?.id ?? null) };
  };
  return {
    'setup.status.get': status,

    'setup.step.id.post': async ({ params, body: { action } }) => {
      const step = (await steps()).find(({ id }) => id === params.id);
      if (step === undefined)
        throw new ApiError('E_NOT_FOUND', `No step ${params.id}. Steps: ${STEP_IDS.join(', ')}.`);
      const { id } = step;
      if (action !== 'undo') checkMarkable(step, action);
      await marks.change((present) => {
        const { [id]: _before, ...others } = present.steps;
        const mark = action === 'skip' ? 'skipped' : 'complete';
        return { ...present, steps: action === 'undo' ? others : { ...others, [id]: mark } };
      });
      return status();
    },

    'setup.profile.post': async ({ body }) => {
      const profile = profileOf(body.profile);
      const { role } = body;
      // First the role: if the second write fails, the node is still what it was.
      const written = [
        ...(role === undefined ? [] : [await config.write('agent.role', role)]),
        await config.write('agent.profile', profile),
      ];
      const { agent } = await config.read();
      return {
        profile,
        role: profile === 'drone' ? null : agent.role,
        restart_required: [...new Set(written.flatMap(({ restart_required: names }) => names))],
      };
    },

    'setup.finish.post': async () => {
      await marks.change((present) => ({ ...present, finished_at: new Date(now()).toISOString() }));
      return status();
    },

    'setup.reset.post': async () => {
      await marks.reset();
      return status();
    },
  };
}

/** @throws ApiError E_BAD_REQUEST */
function checkMarkable({ id, state, detail }: Step, action: 'complete' | 'skip'): void {
  const why = whyNot(id, state, action);
  if (why !== null) throw new ApiError('E_BAD_REQUEST', `${why} ${detail}`);
}

function whyNot(id: StepId, state: Step['state'], action: 'complete' | 'skip'): string | null {
  if (id === 'finish') return 'POST /api/setup/finish finishes, and /api/setup/reset starts over.';
  if (state === 'not_applicable') return 'This node does not have this step.';
  if (action === 'complete' && state !== 'complete' && !CONFIRMABLE.has(id))
    return 'The node sees by itself when this step is complete, and it is not.';
  return null;
}
