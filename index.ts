import { EtcdCluster, readStackConfig } from "pulumi-etcd";

const cluster = new EtcdCluster("etcd", readStackConfig());

export const endpoints = cluster.endpoints;
export const members = cluster.members;
export const clientSecretName = cluster.clientSecretName;
export const caBundle = cluster.caBundle;
export const conditions = cluster.conditions;
export const lastOperation = cluster.lastOperation;
