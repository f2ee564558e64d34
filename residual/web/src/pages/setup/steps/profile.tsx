import { Drone, RadioTower } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import { enter, info } from '../../../api/node.ts';
import { ErrorNote, Field, Icon, Note, Progress, Unfold } from '../../../parts/parts.tsx';
import { restart } from '../../../parts/restart.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from '../setup.module.css';
import type { StepProps } from '../status.ts';
import { Primary } from './primary.tsx';

const PROFILES = ['drone', 'ground-station'] as const;
const ROLES = ['direct', 'relay', 'receiver'] as const;

export function ProfileStep({ complete }: StepProps): JSX.Element {
  const now = info.value?.profile ?? 'drone';
  const [profile, setProfile] = useState<(typeof PROFILES)[number]>(now);
  const [role, setRole] = useState<(typeof ROLES)[number]>('direct');
  const [restarting, setRestarting] = useState<string | null>(null);
  const { busy, error, run } = useAct();
  const set = async (): Promise<void> => {
    const answer = await call('setup.profile.post', {
      body: { profile, ...(profile === 'drone' ? {} : { role }) },
    });
    if (profile !== now) {
      const names = answer.restart_required;
      // The supervisor restarts the others.
      const needed = names.includes('svc-supervisor') ? ['svc-supervisor'] : names;
      try {
        for (const name of needed) {
          setRestarting(name);
          await restart(name);
        }
      } finally {
        setRestarting(null);
      }
      await enter();
    }
    await complete();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void run(set);
      }}
    >
      <fieldset class={css['choices']}>
        <legend class="visually-hidden">{t.setup.step.profile.title}</legend>
        {PROFILES.map((each) => (
          <label key={each} class={css['choice']}>
            <Icon of={each === 'drone' ? Drone : RadioTower} />
            <strong>{t.setup.profile[each].name}</strong>
            <span class="hint">{t.setup.profile[each].hint}</span>
            <input type="radio" name="profile" checked={profile === each} onChange={() => setProfile(each)} />
          </label>
        ))}
      </fieldset>
      {profile === 'drone' ? null : (
        <Unfold title={t.setup.profile.role}>
          <Field label={t.setup.profile.role} hint={t.setup.profile.roles[role]}>
            {(ids) => (
              <select
                {...ids}
                value={role}
                onChange={(event) =>
                  setRole(ROLES.find((each) => each === event.currentTarget.value) ?? 'direct')
                }
              >
                {ROLES.map((each) => (
                  <option key={each} value={each}>
                    {each}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </Unfold>
      )}
      {profile === now ? null : <Note tone="warn">{t.setup.profile.restarts}</Note>}
      {restarting === null ? null : <Progress label={t.setup.profile.waiting} value={null} />}
      <ErrorNote error={error} />
      <Primary busy={busy} row="setup.profile.post">
        {t.setup.next}
      </Primary>
    </form>
  );
}
