import { FolderTree, SearchX, SlidersHorizontal, Unplug } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../../api/rows.ts';
import { newest } from '../../../api/telemetry.ts';
import { place } from '../../../app/route.ts';
import { Asked, Button, Card, Dialog, EmptyState, Field, Note, Progress } from '../../../parts/parts.tsx';
import { type AskState, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { isChanged, matches, type Param, paramsOf } from '../../../vehicle/param.ts';
import { Unheard } from '../../../vehicle/unheard.tsx';
import { family } from '../../../vehicle/vehicle-state.ts';
import { Descriptions } from './descriptions.tsx';
import { favourites } from './favourites.ts';
import { FilesAndReset } from './files-and-reset.tsx';
import { type Choice, GroupTree } from './group-tree.tsx';
import { familiesOf, isIn } from './groups.ts';
import { Compare, type ParamFile } from './param-compare.tsx';
import { ParamList } from './param-list.tsx';
import css from './params.module.css';
import { Staged } from './staged.tsx';
import { staged } from './staged-values.ts';

const PRIMING_MS = 1000;
const NOTHING = {};
const text = t.vehicle.tree;

/** The parameters of the vehicle: found, changed, compared with a file, written and read back. */
export function ParamsTab(): JSX.Element {
  const { params, values, isDescribed, reload, describe } = useParams();
  const [, named = ''] = place.value.rest;
  const [search, setSearch] = useState(named);
  const [choice, setChoice] = useState<Choice>({ kind: 'all' });
  const [file, setFile] = useState<ParamFile | null>(null);
  const [isChoosing, setChoosing] = useState(false);
  const wanted = search.trim();
  const families = useMemo(() => familiesOf(params), [params]);
  const counts = {
    all: params.length,
    favourites: params.filter(({ name }) => favourites.value.has(name)).length,
    changed: useMemo(() => params.filter((param) => isChanged(param) === true).length, [params]),
    staged: staged.value.size,
  };
  const noDefaults = params.length > 0 && params.every((param) => isChanged(param) === null);
  const found = params.filter(
    (param) => isChosen(param, choice) && (wanted === '' || matches(param, wanted)),
  );
  const choose = (next: Choice): void => {
    setChoice(next);
    setChoosing(false);
  };
  const tree = <GroupTree families={families} counts={counts} choice={choice} onChoose={choose} />;
  if (params.length === 0 && (values.data === null || family.value === null))
    return (
      <Card wide title={text.all} icon={SlidersHorizontal}>
        <Asked of={values}>{() => <Unheard icon={Unplug} text={t.vehicle.overview.notHeard} />}</Asked>
      </Card>
    );
  const { priming = false, progress, priming_timeout: isIncomplete } = values.data ?? {};
  return (
    <>
      <div class={css['params']}>
        <div class={css['side']}>{tree}</div>
        <div>
          {file === null ? null : <Compare file={file} params={params} onClose={() => setFile(null)} />}
          <Card
            wide
            title={choice.kind === 'group' ? choice.group : text[choice.kind]}
            icon={SlidersHorizontal}
            actions={
              <span class={css['group-button']}>
                <Button icon={FolderTree} onClick={() => setChoosing(true)}>
                  {text.groups}
                </Button>
              </span>
            }
          >
            <Asked of={values} />
            {priming && progress !== undefined ? (
              <Progress
                label={t.vehicle.params.priming({ got: progress.got, expected: progress.expected })}
                value={progress.expected === null ? null : progress.got / progress.expected}
              />
            ) : null}
            {isDescribed === false ? <Descriptions isDescribed={false} onLoaded={describe} /> : null}
            {isIncomplete === true ? <Note tone="warn">{t.vehicle.params.incomplete}</Note> : null}
            <div class={css['search']}>
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
              <p class="hint" role="status">
                {t.vehicle.params.found({ found: found.length, total: params.length })}
              </p>
            </div>
            {choice.kind === 'changed' && noDefaults ? <Note>{t.vehicle.params.noDefaults}</Note> : null}
            {found.length === 0 && params.length > 0 ? (
              <EmptyState icon={SearchX} text={emptyText(choice, wanted)}>
                {wanted === '' ? null : <Button onClick={() => setSearch('')}>{text.clear}</Button>}
              </EmptyState>
            ) : null}
            <ParamList
              key={`${JSON.stringify(choice)} ${params.length === 0}`}
              params={found}
              first={found.some(({ name }) => name === named) ? named : null}
            />
          </Card>
          <Staged params={params} onWritten={reload} />
          {isDescribed === true ? <Descriptions isDescribed onLoaded={describe} /> : null}
          <FilesAndReset params={params} onFile={setFile} onReset={reload} />
        </div>
      </div>
      <Dialog sheet title={text.chooseGroup} open={isChoosing} onClose={() => setChoosing(false)}>
        {tree}
      </Dialog>
    </>
  );
}

function isChosen(param: Param, choice: Choice): boolean {
  switch (choice.kind) {
    case 'all':
      return true;
    case 'favourites':
      return favourites.value.has(param.name);
    case 'changed':
      return isChanged(param) === true;
    case 'staged':
      return staged.value.has(param.name);
    case 'group':
      return isIn(param, choice.group);
  }
}

function emptyText({ kind }: Choice, wanted: string): string {
  if (wanted !== '' || kind === 'all' || kind === 'group') return text.noHit;
  return kind === 'favourites' ? text.noFavourites : text.noChanged;
}

/** The values, read again whenever the node has newer ones, and what describes them. */
function useParams(): {
  readonly params: readonly Param[];
  readonly values: AskState<Answer<'params.get'>>;
  /** Whether any has a text; null: not known yet. */
  readonly isDescribed: boolean | null;
  readonly reload: () => void;
  /** They are described anew. */
  readonly describe: () => void;
} {
  const described = useAsk('params.get', { query: { details: '1' } });
  const values = useAsk('params.get', {}, null);
  const generation = newest.value?.['param_generation'];
  const { params: now = NOTHING, priming = false } = values.data ?? {};
  const known: NonNullable<Answer<'params.get'>['details']> = described.data?.details ?? NOTHING;
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
  const isDescribed = useMemo(() => {
    const all = Object.values(known);
    return all.length === 0 ? null : all.some(({ metadata }) => (metadata?.description ?? null) !== null);
  }, [known]);
  const params = useMemo(() => paramsOf(now, known), [now, known]);
  return { params, values, isDescribed, reload: values.reload, describe: described.reload };
}
