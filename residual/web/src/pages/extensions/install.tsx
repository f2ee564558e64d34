import { Download, FileArchive, Globe } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { go } from '../../app/route.ts';
import css from '../../extensions/extensions.module.css';
import { type Installed, toneOfRisk } from '../../extensions/status.ts';
import { textIn } from '../../parts/form/form-text.ts';
import { Badge, Button, ErrorNote, Field, Icon, Note, Progress, Segmented } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { ExtensionIcon } from './extension-icon.tsx';
import { permissionIcon } from './permission-icon.ts';

const text = t.extensions;

type Parsed = Answer<'plugins.parse.post'>;

interface Chosen {
  readonly file: File;
  readonly parsed: Parsed;
}

/** Takes an archive, says what it is and what it asks for, and installs it with what the operator allows. */
export function Install({
  installed,
  onDone,
}: {
  installed: readonly Installed[];
  onDone: () => void;
}): JSX.Element | null {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [over, setOver] = useState(false);
  const [source, setSource] = useState<'file' | 'url'>('file');
  const { busy, error, run, clear } = useAct();
  if (!may('plugins.parse.post')) return null;
  const choose = (file: File | undefined): void => {
    if (file === undefined) return;
    setChosen(null);
    void run(async () => {
      setChosen({ file, parsed: await call('plugins.parse.post', { raw: await multipart(file) }) });
    });
  };
  return (
    <>
      <Steps at={chosen === null ? 0 : 1} />
      {chosen === null ? (
        <>
          <Segmented
            label={text.from}
            options={[
              { id: 'file', name: text.sources.file, icon: FileArchive },
              { id: 'url', name: text.sources.url, icon: Globe },
            ]}
            chosen={source}
            onChoose={setSource}
          />
          {source === 'file' ? (
            <div
              class={`${css['drop']} ${over ? 'over' : ''}`}
              onDragOver={(event) => {
                event.preventDefault();
                setOver(true);
              }}
              onDragLeave={() => setOver(false)}
              onDrop={(event) => {
                event.preventDefault();
                setOver(false);
                choose(event.dataTransfer?.files[0]);
              }}
            >
              <Field label={t.extensions.install.file} hint={t.extensions.install.hint}>
                {(ids) => (
                  <input
                    {...ids}
                    type="file"
                    accept=".svcplug"
                    onChange={(event) => {
                      choose(event.currentTarget.files?.[0]);
                      event.currentTarget.value = '';
                    }}
                  />
                )}
              </Field>
              {busy ? <Progress label={t.extensions.install.reading} value={null} /> : null}
            </div>
          ) : (
            <FromUrl onDone={onDone} />
          )}
        </>
      ) : null}
      <ErrorNote error={error} />
      {chosen === null ? null : (
        <Review
          key={chosen.parsed.plugin_id + chosen.parsed.version}
          {...chosen}
          before={installed.find(({ plugin_id: id }) => id === chosen.parsed.plugin_id)}
          onCancel={() => {
            clear();
            setChosen(null);
          }}
          onDone={onDone}
        />
      )}
    </>
  );
}

function Steps({ at }: { readonly at: number }): JSX.Element {
  return (
    <ol
      class={css['steps']}
      aria-label={text.step({ at: at + 1, of: text.steps.length, name: text.steps[at] ?? '' })}
    >
      {text.steps.map((name, each) => (
        <li key={name} aria-current={each === at ? 'step' : undefined}>
          <span aria-hidden="true">{each + 1}</span> {name}
        </li>
      ))}
    </ol>
  );
}

/** The node downloads it and installs it switched off: what it asks is on its own page, where this leads. */
function FromUrl({ onDone }: { readonly onDone: () => void }): JSX.Element {
  const { busy, error, run } = useAct();
  const [step, setStep] = useState<string | null>(null);
  const install = (form: FormData): void =>
    void run(async () => {
      const { plugin_id: id } = await call('plugins.install-from-url.post', {
        body: { url: textIn(form, 'url').trim(), expected_sha256: textIn(form, 'sha256').trim() },
        onProgress: ({ text: now }) => setStep(now),
      });
      onDone();
      go('extensions', id);
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        install(new FormData(event.currentTarget));
      }}
    >
      <Field label={text.url} hint={text.urlHint}>
        {(ids) => <input {...ids} name="url" type="url" required maxLength={2048} />}
      </Field>
      <Field label={text.sha} hint={text.shaHint}>
        {(ids) => (
          <input
            {...ids}
            name="sha256"
            required
            pattern="[0-9a-fA-F]{64}"
            autocomplete="off"
            spellcheck={false}
          />
        )}
      </Field>
      <ErrorNote error={error} />
      {busy ? <Progress label={step ?? t.extensions.install.sending} value={null} /> : null}
      <Button
        type="submit"
        kind="primary"
        icon={Download}
        row="plugins.install-from-url.post"
        explain
        busy={busy}
      >
        {text.download}
      </Button>
    </form>
  );
}

/** What the archive is; what is ticked is granted with the installation. */
function Review({
  file,
  parsed,
  before,
  onCancel,
  onDone,
}: Chosen & { before: Installed | undefined; onCancel: () => void; onDone: () => void }): JSX.Element {
  const grants = may('plugins.id.grant.post');
  const [ticked, setTicked] = useState<ReadonlySet<string>>(
    new Set(grants ? parsed.permissions.filter(({ required }) => required).map(({ id }) => id) : []),
  );
  const [step, setStep] = useState<string | null>(null);
  const { busy, error, run } = useAct();
  const install = async (): Promise<void> => {
    const { plugin_id: id } = await call('plugins.install.post', {
      raw: await multipart(file),
      query: { requested_permissions: ticked.size === 0 ? undefined : [...ticked].join(',') },
      onProgress: (progress) => setStep(progress.text),
    });
    onDone();
    const complete = parsed.permissions.every(({ id: each, required }) => !required || ticked.has(each));
    say(t.extensions.install.done({ name: parsed.name }), 'good');
    go('extensions', id);
    if (complete && may('plugins.id.enable.post'))
      await call('plugins.id.enable.post', { params: { id }, body: {} });
  };
  return (
    <section class={css['review']} aria-label={t.extensions.install.review}>
      <h3 class="row">
        <ExtensionIcon id={parsed.plugin_id} /> {parsed.name} <small class="hint">{parsed.version}</small>
      </h3>
      <p>{parsed.description}</p>
      <p class="hint">
        {[parsed.plugin_id, parsed.author, parsed.license]
          .filter((each) => each !== undefined && each !== '')
          .join(' · ')}
      </p>
      {before === undefined ? null : (
        <Note>
          {before.version === parsed.version
            ? t.extensions.install.again({ version: before.version })
            : t.extensions.install.update({ from: before.version, to: parsed.version })}
        </Note>
      )}
      {parsed.signed ? (
        <Note tone="good">{t.extensions.install.signedBy({ id: parsed.signer_id ?? '' })}</Note>
      ) : (
        <Note tone="bad">{parsed.signature_problem ?? t.extensions.install.unsigned}</Note>
      )}
      {parsed.warnings.map((warning) => (
        <Note key={warning} tone="warn">
          {warning}
        </Note>
      ))}
      <fieldset>
        <legend>{parsed.permissions.length === 0 ? t.extensions.asksNothing : t.extensions.asks}</legend>
        {parsed.permissions.map((permission) => (
          <label key={permission.id} class={`check ${css['permission']}`}>
            <input
              type="checkbox"
              checked={ticked.has(permission.id)}
              disabled={!grants}
              onChange={(event) => {
                const next = new Set(ticked);
                if (event.currentTarget.checked) next.add(permission.id);
                else next.delete(permission.id);
                setTicked(next);
              }}
            />
            <Icon of={permissionIcon(permission.category)} />
            <span>
              {t.extensions.it} {permission.label}
              {permission.required ? ` (${t.extensions.required})` : ''}
            </span>
            <Badge tone={toneOfRisk(permission.risk)}>{t.extensions.risk[permission.risk]}</Badge>
          </label>
        ))}
      </fieldset>
      {grants ? null : <Note>{t.extensions.install.noGrants}</Note>}
      <ErrorNote error={error} />
      {busy ? <Progress label={step ?? t.extensions.install.sending} value={null} /> : null}
      <div class="row">
        <Button
          row="plugins.install.post"
          explain
          kind="primary"
          busy={busy}
          onClick={() => void run(install)}
        >
          {t.extensions.install.button}
        </Button>
        <Button onClick={onCancel}>{t.app.cancel}</Button>
      </div>
    </section>
  );
}

async function multipart(file: File): Promise<{ bytes: Blob; type: string }> {
  const form = new FormData();
  form.set('file', file);
  const encoded = new Response(form);
  // Not the type of the blob: that is in small letters, and the boundary in it is not.
  const type = encoded.headers.get('content-type') ?? '';
  return { bytes: await encoded.blob(), type };
}
