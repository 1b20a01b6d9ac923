"""Fitting a snapshot to the form in which its model is served: may its adapters go over it, or into the weights?"""
