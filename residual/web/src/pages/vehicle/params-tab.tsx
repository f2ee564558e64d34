import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { newest } from '../../api/telemetry.ts';
import { saveText } from '../../parts/files.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Button, Card, ErrorNote, Field, HoldButton, Note, Progress } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { isChanged, matches, paramsOf } from './param.ts';
import { Compare } from './param-compare.tsx';
import { commaFile, type ParamFile, readParamFile, tabFile } from './param-file.ts';
import { ParamTable } from './param-table.tsx';
import { RebootAutopilot } from './reboot.tsx';
import { Staged } from './staged.tsx';
import css from './vehicle.module.css';

const PRIMING_MS = 1000;
const MAX_BYTES = 1024 * 1024;

/** The parameters of the vehicle: found, changed, compared with a file, written and read back. */
export function ParamsTab(): JSX.Element {
  const described = useAsk('params.get', { query: { details: '1' } });
  const values = useAsk('params.get', {}, null);
  const generation = newest.value?.['param_generation'];
  const { params: now = {}, priming = false, progress } = values.data ?? {};
  const known = described.data?.details ?? {};
  useEffect(() => values.reload(), [generation]);
  useEffect(() => {
    if (!priming) return undefined;
    const timer = setInterval(values.reload, PRIMING_MS);
    return () => clearInterval(timer);
  }, [priming]);
  // A download has brought parameters that were not described with the first answer.
  const complete = priming || Object.keys(now).every((name) => name in known);
  const asked = useRef('');
  useEffect(() => {
    const names = Object.keys(now).join();
    if (complete || described.data === null || asked.current === names) return;
    asked.current = names;
    described.reload();
  }, [complete, described.data]);
  const params = useMemo(() => paramsOf(now, known), [now, known]);

  const [search, setSearch] = useState('');
  const [group, setGroup] = useState('');
  const [changedOnly, setChangedOnly] = useState(false);
  const [file, setFile] = useState<(ParamFile & { readonly name: string }) | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const act = useGuarded();
  const groups = useMemo(() => [...new Set(params.map((each) => each.group))].toSorted(), [params]);
  const found = useMemo(
    () =>
      params.filter(
        (param) =>
          (group === '' || param.group === group) &&
          (!changedOnly || isChanged(param) === true) &&
          (search.trim() === '' || matches(param, search.trim())),
      ),
    [params, group, changedOnly, search],
  );
  const changed = useMemo(() => params.filter((param) => isChanged(param) === true).length, [params]);
  const noDefaults = params.length > 0 && params.every((param) => isChanged(param) === null);

  const [isReset, setReset] = useState(false);

  const open = async (picked: File): Promise<void> => {
    if (picked.size > MAX_BYTES) say(t.vehicle.params.tooLarge, 'bad');
    else setFile({ name: picked.name, ...readParamFile(await picked.text()) });
  };
  const reset = async (force: boolean): Promise<void> => {
    const { reboot_required: reboot } = await call('params.reset.post', { body: forced(force, {}) });
    setReset(true);
    say(reboot === false ? t.vehicle.params.resetDone : t.vehicle.params.resetReboot, 'good');
    values.reload();
  };
  return (
    <div class="page">
      <Staged params={params} onWritten={values.reload} />
      {file === null ? null : <Compare file={file} params={params} onClose={() => setFile(null)} />}
      <Card wide title={t.vehicle.params.title(params.length)}>
        <ErrorNote error={values.error} onRetry={values.reload} />
        {priming && progress !== undefined ? (
          <Progress
            label={t.vehicle.params.priming(progress.got, progress.expected)}
            value={progress.expected === null ? null : progress.got / progress.expected}
          />
        ) : null}
        {values.data?.priming_timeout === true ? (
          <Note tone="warn">{t.vehicle.params.incomplete}</Note>
        ) : null}
        <div class={css['filters']}>
          <Field label={t.vehicle.params.search}>
            {(ids) => (
              <input
                {...ids}
                type="search"
                value={search}
                onInput={(event) => setSearch(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={t.vehicle.params.group}>
            {(ids) => (
              <select {...ids} value={group} onChange={(event) => setGroup(event.currentTarget.value)}>
                <option value="">{t.vehicle.params.allGroups}</option>
                {groups.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <label class="check">
            <input
              type="checkbox"
              checked={changedOnly}
              onChange={(event) => setChangedOnly(event.currentTarget.checked)}
            />{' '}
            {t.vehicle.params.changedOnly(changed)}
          </label>
        </div>
        {changedOnly && noDefaults ? <Note>{t.vehicle.params.noDefaults}</Note> : null}
        <ParamTable params={found} total={params.length} />
      </Card>
      <Card title={t.vehicle.params.files}>
        <input
          ref={picker}
          type="file"
          class="visually-hidden"
          tabIndex={-1}
          aria-label={t.vehicle.params.compare}
          accept=".param,.params,.parm,.txt,text/plain"
          onChange={(event) => {
            const [picked] = event.currentTarget.files ?? [];
            if (picked !== undefined) void open(picked);
            event.currentTarget.value = '';
          }}
        />
        {isReset ? <RebootAutopilot /> : null}
        <p class="hint">{t.vehicle.params.filesHint}</p>
        <div class="row">
          <Button onClick={() => picker.current?.click()}>{t.vehicle.params.compare}</Button>
          <Button
            onClick={() =>
              saveText(
                tabFile(params, params.find(({ name }) => name === 'SYSID_THISMAV')?.value ?? 1),
                'vehicle.params',
                'text/plain',
              )
            }
          >
            {t.vehicle.params.saveQgc}
          </Button>
          <Button onClick={() => saveText(commaFile(params), 'vehicle.param', 'text/plain')}>
            {t.vehicle.params.saveMp}
          </Button>
        </div>
      </Card>
      <Card title={t.vehicle.params.resetTitle}>
        <p>{t.vehicle.params.resetHint}</p>
        <GuardNote act={act} />
        <HoldButton
          kind="danger"
          row="params.reset.post"
          busy={act.busy}
          holdMs={2000}
          onConfirm={() => void act.run(reset)}
        >
          {t.vehicle.params.reset}
        </HoldButton>
      </Card>
    </div>
  );
}
