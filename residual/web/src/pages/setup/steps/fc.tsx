import type { JSX } from 'preact';
import { number } from '../../../parts/format.ts';
import { ErrorNote, Note, Stat } from '../../../parts/parts.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import type { StepProps } from '../status.ts';
import { SourceForm } from './source-form.tsx';

const LOOK_MS = 2000;
const BAUDS = [115_200, 921_600, 57_600] as const;

/** The flight controller is found by itself; here is the evidence, and the choice where it was not. */
export function FcStep({ reload }: StepProps): JSX.Element {
  const { data, error } = useAsk('status.get', {}, LOOK_MS);
  const ports = useAsk('mavlink.ports.get', {}, LOOK_MS * 2);
  const options = [
    { value: 'auto', label: t.setup.fc.auto },
    ...(ports.data?.ports ?? []).flatMap(({ path, description, by_id: stable }) =>
      BAUDS.map((baud) => ({
        value: `serial:${stable ?? path}:${baud}`,
        label: t.setup.fc.port(description === '' ? path : `${description} (${path})`, baud),
      })),
    ),
    { value: 'sim', label: t.setup.fc.sim },
  ];
  return (
    <>
      <ErrorNote error={error} />
      {data === null ? null : (
        <>
          <dl class="stats">
            <Stat
              label={t.setup.fc.state}
              value={t.setup.fc.hint[data.fc_link_hint ?? 'no_heartbeat']}
              tone={data.fc_connected ? 'good' : 'warn'}
            />
            <Stat label={t.setup.fc.firmware} value={data.fc_firmware ?? null} />
            <Stat label={t.setup.fc.on} value={data.fc_port ?? data.fc_source ?? null} />
            <Stat
              label={t.setup.fc.heard}
              value={typeof data.fc_heartbeat_age_s === 'number' ? number(data.fc_heartbeat_age_s, 1) : null}
              unit="s"
            />
          </dl>
          {data.fc_simulated === true ? <Note tone="warn">{t.setup.fc.simulated}</Note> : null}
          {(data.link_problems ?? []).map(({ code, detail }) => (
            <Note key={code} tone="warn">
              {detail}
            </Note>
          ))}
        </>
      )}
      {ports.data !== null && ports.data.ports.length === 0 ? <p class="hint">{t.setup.fc.noPorts}</p> : null}
      <SourceForm
        section="mavlink"
        name="source"
        label={t.setup.fc.source}
        options={options}
        onSaved={reload}
      />
    </>
  );
}
