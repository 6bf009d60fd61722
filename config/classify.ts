import {
  isCertificateChange,
  isIssuerChange,
  isProtocolChange,
  isRotation,
  isTemplateChange,
  isTrustedCaChange,
} from "./changes";
import { diffSpecs } from "./diff";
import { ConfigError } from "./problems";
import { refusals } from "./refusals";
import type { Alias, EtcdSpec, FieldChange, Operation, OperationKind } from "./types";

/**
 * What has to be done to come from one spec to the next; `old` is undefined where there is no cluster yet.
 *
 * Throws `ConfigError` for what cannot be done to a running cluster, or not in one update.
 */
export function classify(old: EtcdSpec | undefined, next: EtcdSpec): Operation {
  if (!old) return operation("create", [], aliasesOf(next));
  const changes = diffSpecs(old, next);
  const problems = refusals(old, next, changes);
  if (problems.length > 0) throw new ConfigError(problems);
  const templateChanged = changesTemplate(old, next, changes);
  const kind = kindOf(old, next, changes, templateChanged);
  const aliases = kind === "reissue" ? reissued(next, changes) : allIn(kind, next);
  return { ...operation(kind, changes, aliases), templateChanged };
}

function operation(kind: OperationKind, changes: FieldChange[], aliases: Alias[]): Operation {
  const issuerChanged = kind === "reissue" && changes.some(isIssuerChange);
  return {
    kind,
    changes,
    aliases,
    issuerChanged,
    caMayChange: issuerChanged || (kind === "reissue" && changes.some(isTrustedCaChange)),
    templateChanged: false,
  };
}

function kindOf(old: EtcdSpec, next: EtcdSpec, changes: FieldChange[], templateChanged: boolean): OperationKind {
  if (!old.tls && next.tls) return "add";
  if (old.tls && !next.tls) return "remove";
  if (isRotation(old, next)) return "rotate";
  if (changes.some(isCertificateChange)) return "reissue";
  return templateChanged ? "template" : "none";
}

function changesTemplate(old: EtcdSpec, next: EtcdSpec, changes: FieldChange[]): boolean {
  const keepsTls = old.tls !== undefined && next.tls !== undefined;
  return (
    changes.some((change) => isTemplateChange(change) || (keepsTls && isProtocolChange(change))) ||
    old.restartToken !== next.restartToken
  );
}

function allIn(kind: OperationKind, next: EtcdSpec): Alias[] {
  return kind === "add" || kind === "rotate" ? aliasesOf(next) : [];
}

function aliasesOf(spec: EtcdSpec): Alias[] {
  return (spec.tls?.certificates ?? []).map(({ alias }) => alias);
}

/** Another CA of one's own signs everything anew; when it is to be renewed is a note for later. */
function reissued(next: EtcdSpec, changes: FieldChange[]): Alias[] {
  if (changes.some(({ path }) => /^tls\.ca\b(?!\.renewBefore$)/.test(path))) return aliasesOf(next);
  return aliasesOf(next).filter((alias) =>
    changes.some(({ path }) => path.startsWith(`tls.certificates[${alias}]`) || path === `tls.secrets.${alias}`),
  );
}
